import type { ProtocolAdapter, ProtocolId } from '../../protocols/contract/index.js';
import { dialectNames } from '../web/index.js';

/** A dialect as pages name it. */
export interface Dialect {
  readonly id: ProtocolId;
  /** `Chat Completions` */
  readonly name: string;
  /** With whose it is, as clients say it: `OpenAI Chat Completions`. */
  readonly fullName: string;
  /** Where its calls are posted: `/v1/chat/completions`. */
  readonly path: string;
  /** What its clients are given behind the address of the service: `/v1`, or nothing. */
  readonly base: string;
}

/** Clients of these add `/v1` themselves. */
const BARE: readonly ProtocolId[] = ['messages'];

/** The dialects that clients can speak. */
export const dialectsOf = (adapters: readonly Pick<ProtocolAdapter, 'id' | 'callPaths'>[]): readonly Dialect[] =>
  adapters
    .toSorted((one, other) => dialectNames(one.id).place - dialectNames(other.id).place)
    .map(({ id, callPaths }) => ({
      id,
      name: dialectNames(id).name,
      fullName: dialectNames(id).fullName,
      path: callPaths[0] ?? '',
      base: BARE.includes(id) ? '' : '/v1',
    }));
