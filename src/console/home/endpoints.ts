import type { CatalogGroup, OfferedModel } from '../../catalog/index.js';
import type { ProtocolAdapter, ProtocolId } from '../../protocols/contract/index.js';
import { protocolNames } from '../web/index.js';

export interface ProtocolEndpoint {
  readonly id: ProtocolId;
  /** `Chat Completions` */
  readonly name: string;
  /** With its vendor: `OpenAI Chat Completions`. */
  readonly fullName: string;
  /** Path of calls, as in `ProtocolAdapter.callPaths`: `/v1/chat/completions`. */
  readonly path: string;
  /** Appended to the public URL for its clients: `/v1`, or empty. */
  readonly base: string;
}

export interface Endpoint extends ProtocolEndpoint {
  /** Whether requests and responses are translated because no channel supports it natively. */
  readonly translated: boolean;
}

/** The protocols in which a model is available, native ones first. */
export const endpointsOf = (
  { protocols, translates }: Pick<OfferedModel, 'protocols' | 'translates'>,
  all: readonly ProtocolEndpoint[],
): readonly Endpoint[] =>
  all
    .map((protocol) => ({ ...protocol, translated: !protocols.includes(protocol.id) }))
    .filter(({ translated }) => translates || !translated)
    .toSorted((one, other) => Number(one.translated) - Number(other.translated));

/** Protocols whose clients append the version themselves. */
const BARE: readonly ProtocolId[] = ['messages', 'gemini'];

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

/** Price multiplier of a model in a group, in millionths. */
export const multiplierFor = ({ multiplier, modelMultipliers }: CatalogGroup, model: string): bigint =>
  modelMultipliers.get(model) ?? multiplier;
