/**
 * Every ending of a call, with what its upstream would bill by its own count, and what of that the relay gives away: the
 * billing rule of every ending as a table. What is billed and not given away must have been charged.
 */

import type { CallerOptions } from './relay-app.js';
import { prose, tokensIn } from './prose.js';
import {
  responseIn,
  bytes,
  chatBody,
  destroy,
  type ProtocolEndpoint,
  end,
  endlessStream,
  errorResponse,
  errorEvents,
  eventsIn,
  hang,
  head,
  jsonAnswer,
  type JsonObject,
  messagesBody,
  type RecordedRequest,
  responsesBody,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
} from './scripted-upstream.js';

/** Tokens of the prompt, as the upstream counts them. */
export const PROMPT_TOKENS = 400;
/** And of a response that is finished. */
const RESPONSE_TOKENS = 200;
/** Of one that breaks off. */
export const BEGUN_TOKENS = 80;
/** What `thinker` produces unseen, in tokens per second. */
export const HIDDEN_PER_SECOND = 1000;
/** Credit for some 2,000 tokens of output, and for some 400. */
const SMALL = '0.02';
const SMALLEST = '0.005';

/** Where in the exchange the client leaves. */
export type DisconnectPoint = 'asked' | 'headers' | 'opening' | 'words' | 'report' | 'thought';

interface Scene {
  readonly protocol: ProtocolEndpoint;
  readonly streamed: boolean;
  /** Resolves when the client has read as much as it will get. */
  readonly read: Promise<void>;
}

/** Prompt and output of one request, in the upstream's own tokens. */
type Tokens = readonly [prompt: number, output: number];
type Count = (request: RecordedRequest) => Tokens;

const NOTHING: Count = () => [0, 0];
const THE_PROMPT: Count = () => [PROMPT_TOKENS, 0];
const PROMPT_AND_RESPONSE: Count = () => [PROMPT_TOKENS, RESPONSE_TOKENS];
/** A Messages upstream says that much when it begins. */
const PROMPT_AND_ONE: Count = () => [PROMPT_TOKENS, 1];
/** Nobody believes it: nothing has been said yet. */
const ONE: Count = () => [0, 1];
const PROMPT_AND_SENT: Count = ({ sent }) => [PROMPT_TOKENS, tokensIn(sent)];
const WHAT_WAS_SENT: Count = ({ sent }) => [0, tokensIn(sent)];
const PROMPT_AND_THOUGHT: Count = ({ receivedAt, closedAt = receivedAt }) => [
  PROMPT_TOKENS,
  ((closedAt - receivedAt) / 1000) * HIDDEN_PER_SECOND,
];
const MORE: Count = () => [PROMPT_TOKENS, 3 * RESPONSE_TOKENS];
/** Of that, what is beyond the output limit that was sent. */
const BEYOND_LIMIT: Count = ({ json }) => {
  const { max_tokens, max_completion_tokens, max_output_tokens } = json as JsonObject;
  return [0, 3 * RESPONSE_TOKENS - Number(max_tokens ?? max_completion_tokens ?? max_output_tokens)];
};

type Play = (scene: Scene) => Script;

const response: Play = ({ protocol }) => responseIn(protocol, finished());
const silence: Play = () => hang();
const refusal: Play = ({ protocol }) => errorResponse(protocol, 503);
const more: Play = ({ protocol }) => responseIn(protocol, finished(3 * RESPONSE_TOKENS));
const endless: Play = ({ protocol }) => endlessStream(protocol, { text: prose(8).join(''), gapMs: 1 });
const unreported: Play = ({ protocol, streamed }) =>
  streamed
    ? [streamHead(), sse(eventsIn(protocol, finished()).map(withoutUsage)), end()]
    : jsonAnswer(200, without('usage', BODIES[protocol](finished())) as JsonObject);
/** Headers, and then whatever follows. */
const headThen =
  (then: Play): Play =>
  (scene) => [scene.streamed ? streamHead() : head(200, { 'content-type': 'application/json' }), then(scene)];
/** Everything before the first content. */
const opening: Play = (scene) => [sse(eventsUntil(scene.protocol, 1).slice(0, -1)), hang()];
/** A part of the response, and then whatever follows once the client has read that. */
const begunThen =
  (then: Play): Play =>
  (scene) => [headThen(beginning)(scene), then(scene)];
const beginning: Play = ({ protocol, streamed }) =>
  streamed ? sse(eventsUntil(protocol, BEGUN_TOKENS)) : bytes(wholeUntil(protocol, BEGUN_TOKENS));
const breaking: Play = () => destroy('reset');
const truncation: Play = () => end();
/** Not before the client has read the beginning of a stream: it might overtake that. */
const reset: Play = ({ streamed, read }) => [...(streamed ? [waitFor(read)] : []), destroy('reset')];
const streamError: Play = ({ protocol }) => [sse(errorEvents(protocol)), end()];
/** All but what marks the end: the report has come. */
const reportThen: Play = ({ protocol }) => [
  streamHead(),
  sse(eventsIn(protocol, { ...finished(), includeUsage: true } as object).slice(0, -1)),
  hang(),
];

type Kind = 'streamed' | 'whole';
const BOTH: readonly Kind[] = ['streamed', 'whole'];
const STREAMED: readonly Kind[] = ['streamed'];
const WHOLE: readonly Kind[] = ['whole'];

export interface LeakRow {
  readonly ending: string;
  readonly kinds: readonly Kind[];
  /** All unless given. */
  readonly protocols?: readonly ProtocolEndpoint[];
  /** `two` has a second channel; `thinker` shows nothing of what it thinks. `m` unless given. */
  readonly model?: 'two' | 'thinker';
  readonly caller?: CallerOptions & { readonly dailyBudget?: bigint };
  readonly leaves?: DisconnectPoint;
  /** What the upstream does with each request that reaches it, what it would bill for it, what of that is given away. */
  readonly upstream: readonly (readonly [play: Play, bills: Count, gives: Count])[];
  /** An estimate may be up to twice too high or too low. */
  readonly charge: 'exact' | 'estimate';
  readonly status: string;
  readonly basis: string;
}

const CANCELLED = { status: 'cancelled', basis: 'partial' } as const;
const PARTIAL = { status: 'failed', basis: 'partial', charge: 'estimate' } as const;
const FREE = { status: 'failed', basis: 'free', charge: 'exact' } as const;
const REFUSED = { status: 'refused', basis: 'free', charge: 'exact', upstream: [], kinds: BOTH } as const;
const REPORTED = { status: 'succeeded', basis: 'reported', charge: 'exact' } as const;

// prettier-ignore
export const LEAK_ROWS: readonly LeakRow[] = [
  { ending: 'finished, with a report', kinds: BOTH, ...REPORTED,
    upstream: [[response, PROMPT_AND_RESPONSE, NOTHING]] },
  { ending: 'finished, without a report', kinds: BOTH, status: 'succeeded', basis: 'estimated', charge: 'estimate',
    upstream: [[unreported, PROMPT_AND_RESPONSE, NOTHING]] },
  { ending: 'finished by the second channel, the first refused', kinds: BOTH, model: 'two', ...REPORTED,
    upstream: [[refusal, NOTHING, NOTHING], [response, PROMPT_AND_RESPONSE, NOTHING]] },
  { ending: 'finished by the second channel, the first broke off before any output', kinds: BOTH, model: 'two', ...REPORTED,
    upstream: [[headThen(breaking), THE_PROMPT, THE_PROMPT], [response, PROMPT_AND_RESPONSE, NOTHING]] },
  { ending: 'cut off, the upstream ignored its output limit', kinds: STREAMED, caller: { credit: SMALLEST }, status: 'failed', basis: 'partial', charge: 'estimate',
    upstream: [[more, MORE, BEYOND_LIMIT]] },
  { ending: 'finished, the upstream ignored its output limit', kinds: WHOLE, caller: { credit: SMALLEST }, ...REPORTED, basis: 'corrected',
    upstream: [[more, MORE, BEYOND_LIMIT]] },

  { ending: 'left before the headers', kinds: BOTH, leaves: 'asked', ...CANCELLED, charge: 'estimate',
    upstream: [[silence, THE_PROMPT, NOTHING]] },
  { ending: 'left after the headers', kinds: BOTH, leaves: 'headers', ...CANCELLED, charge: 'estimate',
    upstream: [[headThen(silence), THE_PROMPT, NOTHING]] },
  { ending: 'left before any output, the prompt was reported', kinds: STREAMED, protocols: ['messages'], leaves: 'opening', ...CANCELLED, charge: 'exact',
    upstream: [[headThen(opening), PROMPT_AND_ONE, ONE]] },
  { ending: 'left while the model thought unseen', kinds: STREAMED, model: 'thinker', leaves: 'thought', ...CANCELLED, charge: 'estimate',
    upstream: [[headThen(silence), PROMPT_AND_THOUGHT, NOTHING]] },
  { ending: 'left in the middle of a stream', kinds: STREAMED, leaves: 'words', ...CANCELLED, charge: 'estimate',
    upstream: [[begunThen(silence), PROMPT_AND_SENT, NOTHING]] },
  { ending: 'left between the report and the end', kinds: STREAMED, protocols: ['chat-completions', 'messages'], leaves: 'report', ...CANCELLED, charge: 'exact',
    upstream: [[reportThen, PROMPT_AND_RESPONSE, NOTHING]] },
  { ending: 'left while an unstreamed answer was on its way', kinds: WHOLE, leaves: 'headers', ...CANCELLED, charge: 'estimate',
    upstream: [[begunThen(silence), PROMPT_AND_SENT, WHAT_WAS_SENT]] },

  { ending: 'every channel refused', kinds: BOTH, model: 'two', ...FREE,
    upstream: [[refusal, NOTHING, NOTHING], [refusal, NOTHING, NOTHING]] },
  { ending: 'every channel broke off before any output', kinds: BOTH, model: 'two', ...FREE,
    upstream: [[headThen(breaking), THE_PROMPT, THE_PROMPT], [headThen(truncation), THE_PROMPT, THE_PROMPT]] },
  { ending: 'truncated in the middle of a stream', kinds: STREAMED, ...PARTIAL,
    upstream: [[begunThen(truncation), PROMPT_AND_SENT, NOTHING]] },
  { ending: 'reset in the middle of a stream', kinds: STREAMED, ...PARTIAL,
    upstream: [[begunThen(reset), PROMPT_AND_SENT, NOTHING]] },
  { ending: 'an error within the stream', kinds: STREAMED, ...PARTIAL,
    upstream: [[begunThen(streamError), PROMPT_AND_SENT, NOTHING]] },
  { ending: 'truncated in the middle of an unstreamed answer', kinds: WHOLE, ...FREE,
    upstream: [[begunThen(truncation), PROMPT_AND_SENT, PROMPT_AND_SENT]] },
  { ending: 'reset in the middle of an unstreamed answer', kinds: WHOLE, ...FREE,
    upstream: [[begunThen(reset), PROMPT_AND_SENT, PROMPT_AND_SENT]] },
  { ending: 'the credit ran out in the middle of a stream', kinds: STREAMED, caller: { credit: SMALL }, ...PARTIAL,
    upstream: [[endless, PROMPT_AND_SENT, NOTHING]] },

  { ending: 'refused, the wallet is empty', caller: { credit: '0' }, ...REFUSED },
  { ending: "refused, the key's quota is used up", caller: { quota: '0.000001' }, ...REFUSED },
  { ending: "refused, the key's budget is used up", caller: { dailyBudget: 1000n }, ...REFUSED },
];

const BODIES = { 'chat-completions': chatBody, messages: messagesBody, responses: responsesBody };

const finished = (tokens = RESPONSE_TOKENS) => ({
  text: prose(tokens),
  usage: { prompt: PROMPT_TOKENS, completion: tokens },
});

/** The events of a response up to the one with so many tokens. */
function eventsUntil(protocol: ProtocolEndpoint, tokens: number): ScriptedEvent[] {
  const events = eventsIn(protocol, finished());
  let seen = 0;
  const last = events.findIndex(({ data }) => (seen += tokensIn(JSON.stringify(data))) >= tokens);
  return events.slice(0, last + 1);
}

/** An unstreamed response, cut behind so many tokens. */
function wholeUntil(protocol: ProtocolEndpoint, tokens: number): string {
  const body = JSON.stringify(BODIES[protocol](finished()));
  const begun = prose(tokens).join('');
  return body.slice(0, body.indexOf(begun) + begun.length);
}

const withoutUsage = ({ data, ...event }: ScriptedEvent): ScriptedEvent => ({
  ...event,
  data: typeof data === 'string' ? data : (without('usage', data) as JsonObject),
});

/** The same JSON without any member of that name. */
const without = (name: string, value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, member: unknown) => (key === name ? undefined : member)));
