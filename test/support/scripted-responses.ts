/** Ready-made scripts: answers, errors, slow and endless streams, for any protocol of an upstream. */

import { isDeepStrictEqual } from 'node:util';

import type { ChatResponseOptions } from '../conformance/protocols/chat-completions/answers.js';
import { chatVendor } from '../conformance/protocols/chat-completions/vendor.js';
import { vendorOf } from '../conformance/protocols/index.js';
import { messagesVendor } from '../conformance/protocols/messages/vendor.js';
import type { ResponsesResponseOptions } from '../conformance/protocols/responses/answers.js';
import { responsesVendor } from '../conformance/protocols/responses/vendor.js';
import type { VendorDouble } from '../conformance/vendor-double.js';
import { jsonIn } from './scripted-bodies.js';
import { type ResponseOptions, jsonResponse } from './scripted-content.js';
import {
  delay,
  end,
  type Headers,
  type JsonObject,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from './scripted-steps.js';

export {
  type ChatResponseOptions as ChatAnswerOptions,
  chatBody,
  chatEvents,
} from '../conformance/protocols/chat-completions/answers.js';
export { messagesBody, messagesEvents, THINKING_SIGNATURE } from '../conformance/protocols/messages/answers.js';
export {
  type ResponsesResponseOptions as ResponsesAnswerOptions,
  responsesBody,
  responsesEvents,
} from '../conformance/protocols/responses/answers.js';
export { ENCRYPTED_REASONING } from '../conformance/protocols/responses/items.js';
export {
  type ResponseOptions as AnswerOptions,
  jsonResponse as jsonAnswer,
  type ScriptedStop,
  type ScriptedToolCall,
  type ScriptedUsage,
  THOUGHT,
  TIME_CALL,
  WEATHER_CALL,
} from './scripted-content.js';

/** `POST /chat/completions`, streamed or not. */
export const chatResponse = (options: ChatResponseOptions = {}): Script => responseOf(chatVendor, options);

/** `POST /messages`, streamed or not. */
export const messagesResponse = (options: ResponseOptions = {}): Script => responseOf(messagesVendor, options);

/** `POST /responses`, streamed or not. */
export const responsesResponse = (options: ResponsesResponseOptions = {}): Script =>
  responseOf(responsesVendor, options);

/** The ready-made response of an upstream's protocol, for tests that run over all of them. */
export const responseIn = (protocol: string, options: ResponseOptions = {}): Script =>
  responseOf(vendorOf(protocol), options);

/** The same of a vendor that no list has: streamed or whole as options or request say. */
export function responseOf(vendor: VendorDouble, options: ResponseOptions = {}): Script {
  return (request) => {
    const model = vendor.modelOf(request);
    const filled = { ...(model !== undefined && { model }), ...options };
    const headers = { ...vendor.headers, ...options.headers };
    if (!(options.stream ?? vendor.wantsStream(request))) return jsonResponse(200, vendor.body(filled), headers);
    return [streamHead(headers), sse(vendor.events(filled, jsonIn(request))), end()];
  };
}

/** The events of a protocol's streamed response. */
export const eventsIn = (protocol: string, options: ResponseOptions = {}): ScriptedEvent[] =>
  vendorOf(protocol).events(options);

/** Events of a streamed response around the first that says a text: without it and with it, on either side. */
export function eventsAround(events: readonly ScriptedEvent[], text: string) {
  const at = events.findIndex(({ data }) => JSON.stringify(data).includes(text));
  if (at < 0) throw new Error(`No event says "${text}".`);
  return {
    before: events.slice(0, at),
    until: events.slice(0, at + 1),
    from: events.slice(at),
    behind: events.slice(at + 1),
  };
}

/** An HTTP error; without a body one in the protocol's own shape. */
export const errorResponse = (
  protocol: string,
  status: number,
  body: JsonObject = vendorOf(protocol).errorBody(status, `Scripted error ${status}.`),
  headers: Headers = {},
): Script => jsonResponse(status, body, headers);

/** How a running stream of the protocol reports failure. @param sequence the number of the next event, where they have one */
export const errorEvents = (
  protocol: string,
  message = 'Upstream closed the stream.',
  sequence = 0,
): readonly ScriptedEvent[] => vendorOf(protocol).errorEvents(message, sequence);

/** A stream with a pause before every event; the head goes out at once. Give it events or the options of a response. */
export function pacedStream(
  protocol: string,
  events: readonly ScriptedEvent[] | ResponseOptions,
  gapMs: number,
): Script {
  const list = isEvents(events) ? events : eventsIn(protocol, events);
  return [streamHead(), ...list.map((event) => [delay(gapMs), sse([event])]), end()];
}

/**
 * A stream that opens properly and then repeats one text delta until the client leaves.
 * With `gapMs` 0 it writes as fast as the client reads.
 */
export function endlessStream(
  protocol: string,
  options: { readonly text?: string; readonly gapMs?: number } = {},
): Script {
  const { text = 'again ', gapMs = 10 } = options;
  return function* () {
    const events = eventsIn(protocol, { text });
    const first = firstSaying(protocol, text);
    yield [streamHead(), sse(events.slice(0, first))];
    for (let index = first; ; index += 1) {
      if (gapMs > 0) yield delay(gapMs);
      yield sse(events.slice(first, first + 1).map((event) => renumber(event, index)));
    }
  };
}

function isEvents(value: readonly ScriptedEvent[] | ResponseOptions): value is readonly ScriptedEvent[] {
  return Array.isArray(value);
}

/** The first event that says it: the first that differs when the text is. */
function firstSaying(protocol: string, text: string): number {
  const others = eventsIn(protocol, { text: `${text}!` });
  return eventsIn(protocol, { text }).findIndex((event, index) => !isDeepStrictEqual(event, others[index]));
}

function renumber(event: ScriptedEvent, sequence: number): ScriptedEvent {
  if (typeof event.data === 'string' || !('sequence_number' in event.data)) return event;
  return { ...event, data: { ...event.data, sequence_number: sequence } };
}
