import type { ProtocolAdapter, ProtocolId } from '../call/index.js';

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

/** Whose a dialect is, in the order that pages show them; one that is added comes behind, under its own name alone. */
const VENDORS: Readonly<Record<ProtocolId, string>> = {
  responses: 'OpenAI',
  'chat-completions': 'OpenAI',
  messages: 'Anthropic',
};
/** Clients of these add `/v1` themselves. */
const BARE: readonly ProtocolId[] = ['messages'];

/** The dialects that clients can speak. */
export const dialectsOf = (adapters: readonly Pick<ProtocolAdapter, 'id' | 'callPaths'>[]): readonly Dialect[] =>
  adapters
    .toSorted((one, other) => placeOf(one.id) - placeOf(other.id))
    .map(({ id, callPaths }) => ({
      id,
      name: titled(id),
      fullName: [VENDORS[id] ?? [], titled(id)].flat().join(' '),
      path: callPaths[0] ?? '',
      base: BARE.includes(id) ? '' : '/v1',
    }));

function placeOf(id: ProtocolId): number {
  const place = Object.keys(VENDORS).indexOf(id);
  return place < 0 ? Infinity : place;
}

const titled = (id: string): string =>
  id
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
