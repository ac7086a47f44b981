/** What the decoder of Responses upstreams makes of a stream, for its specs. */

import { renderSse, type CallContent, type CallEvent, type CallResult } from '../../src/protocols/contract/index.js';
import { ResponsesUpstream } from '../../src/protocols/responses/upstream.js';
import type { JsonObject } from '../../src/platform/shared/index.js';
import { aTarget } from './calls.js';
import { aContent, decoded, resultOf } from './translations.js';

export const upstream = new ResponsesUpstream();
export const target = aTarget({ family: 'openai' });
export const DONE = 'data: [DONE]\n\n';

export type Event = JsonObject & { readonly type: string };

/** The events as they stand on the wire. */
export const stream = (...events: readonly Event[]): string =>
  events.map(({ type, ...members }) => renderSse(type, JSON.stringify({ type, ...members })).toString()).join('');
/** The events of ours that it is decoded into, checked against their grammar. */
export const read = (text: string, content: Partial<CallContent> = {}): CallEvent[] =>
  decoded(upstream.decodeStream(aContent(content), target), text);
export const resultOfStream = (...events: readonly Event[]): CallResult => resultOf(read(stream(...events)));
