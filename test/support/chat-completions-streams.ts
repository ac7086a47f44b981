/** What the decoder of Chat Completions upstreams makes of a stream, for its specs. */

import type {
  ResponsePart,
  CallContent,
  CallEvent,
  CallResult,
  UpstreamTarget,
} from '../../src/protocols/contract/index.js';
import { ChatCompletionsUpstream } from '../../src/protocols/chat-completions/upstream.js';
import { aTarget } from './calls.js';
import { DONE, finish } from './chat-completions-chunks.js';
import { aContent, decoded, resultOf } from './translations.js';

export const upstream = new ChatCompletionsUpstream();

export interface Setting {
  readonly content?: Partial<CallContent>;
  readonly target?: Partial<UpstreamTarget>;
}

export const eventsOf = (stream: string, { content, target }: Setting = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), aTarget(target)), stream);
export const responseOf = (stream: string, setting?: Setting): CallResult => resultOf(eventsOf(stream, setting));
/** What is said in a stream that has yet to end. */
export const partsOf = (stream: string, setting?: Setting): readonly ResponsePart[] =>
  responseOf(`${stream}${finish('stop')}${DONE}`, setting).parts;
/** Texts as they are; a call as `id name(arguments)`. */
export const saidIn = (parts: readonly ResponsePart[]): string[] =>
  parts.map((part) => (part.kind === 'tool-call' ? `${part.id} ${part.name}(${part.arguments})` : part.text));
