import type { CatalogGroup, OfferedModel } from '../../catalog/index.js';
import type { ProtocolAdapter, ProtocolId } from '../../protocols/contract/index.js';
import { protocolNames } from '../web/index.js';

/** A dialect in which a model answers. */
export interface Endpoint extends ProtocolEndpoint {
  /** No channel speaks it itself: what it is asked in it is carried over into another dialect, and the answer back. */
  readonly translated: boolean;
}

/** The dialects that a model answers, those first in which calls go up as they are. */
export const endpointsOf = (
  { protocols, translates }: Pick<OfferedModel, 'protocols' | 'translates'>,
  dialects: readonly ProtocolEndpoint[],
): readonly Endpoint[] =>
  dialects
    .map((dialect) => ({ ...dialect, translated: !protocols.includes(dialect.id) }))
    .filter(({ translated }) => translates || !translated)
    .toSorted((one, other) => Number(one.translated) - Number(other.translated));

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

/** What a model's price is multiplied by in a group, in millionths. */
export const multiplierFor = ({ multiplier, modelMultipliers }: CatalogGroup, model: string): bigint =>
  modelMultipliers.get(model) ?? multiplier;
