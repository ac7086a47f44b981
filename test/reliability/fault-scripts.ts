/** The pieces that the upstreams of the fault matrix answer with. Two channels never say the same word. */

import { setImmediate as turn } from 'node:timers/promises';
import { vendorOf } from '../conformance/protocols/index.js';
import { prose, tokensIn } from '../support/prose.js';
import {
  responseIn,
  bytes,
  chunkEvery,
  destroy,
  eventsIn,
  head,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';

/** One request to an upstream, as its script sees it. */
export interface Scene {
  /** The upstream's. */
  readonly protocol: string;
  /** Whether it is asked for a stream. */
  readonly streamed: boolean;
}

/** Tokens of the prompt, as the upstream counts them. */
export const PROMPT_TOKENS = 400;
const RESPONSE_TOKENS = 200;
const BEGUN_TOKENS = 80;

/** What the first channel says, and the second. */
const WORDS = ['Alpha', ...prose(RESPONSE_TOKENS)];
export const RESPONSE = WORDS.join('');
export const SECOND_RESPONSE = `Omega${prose(20).join('')}`;
/** Up to where a response is cut off that has begun. */
export const BEGINNING = WORDS.slice(0, 1 + BEGUN_TOKENS).join('');
export const large = `Alpha${'x'.repeat(2 * 1024 * 1024)}`;

/** What either channel reports: each call that is answered costs so much, and no other so much. */
export const USAGE = { prompt: PROMPT_TOKENS, completion: RESPONSE_TOKENS };
export const SECOND_USAGE = { prompt: PROMPT_TOKENS, completion: 20 };

const FINISHED = { text: WORDS, usage: USAGE };
const JSON_HEAD = { 'content-type': 'application/json' };

export const responseOf =
  (text: string) =>
  ({ protocol }: Scene): Script =>
    responseIn(protocol, { text, usage: USAGE });

export const secondResponse = (protocol: string): Script =>
  responseIn(protocol, { text: SECOND_RESPONSE, usage: SECOND_USAGE });

export const bytewise = ({ protocol }: Scene): Script => [
  chunkEvery(1),
  responseIn(protocol, { text: 'Alpha', usage: USAGE }),
];

/** The head of a response, which has been read before anything follows. */
export const opened = ({ streamed }: Scene): Script => [streamed ? streamHead() : head(200, JSON_HEAD), arrived()];

/** What comes before the first content. */
export const prelude = ({ protocol }: Scene): Script => [sse(divided(protocol).prelude), arrived()];

/** The head and a part of the response, which have been read before anything follows. */
export const begun = (scene: Scene): Script => {
  const { prelude: first, begun: words } = divided(scene.protocol);
  const part = scene.streamed ? sse([...first, ...words]) : bytes(wholeParts(scene.protocol)[0]);
  return [opened(scene), part, arrived()];
};

/** What is left of a response behind a part of it. */
export const rest = ({ protocol, streamed }: Scene, behind: 'prelude' | 'begun'): Script => {
  const { begun: words, rest: others } = divided(protocol);
  if (streamed) return sse(behind === 'prelude' ? [...words, ...others] : others);
  return bytes(behind === 'prelude' ? wholeParts(protocol).join('') : wholeParts(protocol)[1]);
};

/** No JSON, whether an event of it or a piece of a body. */
export const garbled = (): Script => bytes('data: {"choices":[{"delta":\n\n');

/** Breaks the connection once all that was sent has been read: a reset would overtake it. */
export const reset = (how: 'reset' | 'close' = 'reset'): Script => [arrived(), destroy(how)];

/**
 * Relay and upstream are one process: in each turn of its event loop what has been written is read. A while alone would
 * not do on a machine that is busy.
 */
const arrived = (): Script =>
  waitFor(async () => {
    for (let turns = 0; turns < 10; turns += 1) await turn();
  });

interface StreamParts {
  readonly prelude: readonly ScriptedEvent[];
  readonly begun: readonly ScriptedEvent[];
  readonly rest: readonly ScriptedEvent[];
}

const DIVIDED = new Map<string, StreamParts>();

function divided(protocol: string): StreamParts {
  const known = DIVIDED.get(protocol);
  if (known !== undefined) return known;
  const events = eventsIn(protocol, { ...FINISHED, includeUsage: true } as object);
  let tokens = 0;
  const first = events.findIndex(({ data }) => JSON.stringify(data).includes('Alpha'));
  const last = 1 + events.findIndex(({ data }) => (tokens += tokensIn(JSON.stringify(data))) >= BEGUN_TOKENS);
  const parts = { prelude: events.slice(0, first), begun: events.slice(first, last), rest: events.slice(last) };
  DIVIDED.set(protocol, parts);
  return parts;
}

/** An unstreamed response in two, cut where a stream is. */
function wholeParts(protocol: string): [string, string] {
  const body = JSON.stringify(vendorOf(protocol).body(FINISHED));
  const at = body.indexOf(BEGINNING) + BEGINNING.length;
  return [body.slice(0, at), body.slice(at)];
}
