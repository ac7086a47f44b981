import type { ProtocolAdapter, ProtocolId } from '../../protocols/contract/index.js';
import { protocolNames } from '../web/index.js';

/** A dialect as pages name it. */
export interface ProtocolEndpoint {
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
export const protocolEndpoints = (
  adapters: readonly Pick<ProtocolAdapter, 'id' | 'callPaths'>[],
): readonly ProtocolEndpoint[] =>
  adapters
    .toSorted((one, other) => protocolNames(one.id).place - protocolNames(other.id).place)
    .map(({ id, callPaths }) => ({
      id,
      name: protocolNames(id).name,
      fullName: protocolNames(id).fullName,
      path: callPaths[0] ?? '',
      base: BARE.includes(id) ? '' : '/v1',
    }));
