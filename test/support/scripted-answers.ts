/** Ready-made scripts: answers, errors, slow and endless streams, for any of the three dialects. */

import { chatAnswer, chatEvents } from './scripted-chat.js';
import { type AnswerOptions, jsonAnswer } from './scripted-content.js';
import { messagesAnswer, messagesEvents } from './scripted-messages.js';
import { responsesAnswer, responsesEvents, responsesFailure } from './scripted-responses.js';
import {
  delay,
  type Dialect,
  end,
  type Headers,
  type JsonObject,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from './scripted-steps.js';

export { chatAnswer, type ChatAnswerOptions, chatBody, chatEvents } from './scripted-chat.js';
export {
  type AnswerOptions,
  jsonAnswer,
  type ScriptedStop,
  type ScriptedToolCall,
  type ScriptedUsage,
  TIME_CALL,
  WEATHER_CALL,
} from './scripted-content.js';
export { messagesAnswer, messagesBody, messagesEvents, THINKING_SIGNATURE } from './scripted-messages.js';
export { responsesAnswer, type ResponsesAnswerOptions, responsesBody, responsesEvents } from './scripted-responses.js';
export { ENCRYPTED_REASONING } from './scripted-responses-items.js';

const ANSWERS = { responses: responsesAnswer, 'chat-completions': chatAnswer, messages: messagesAnswer };
const EVENTS = { responses: responsesEvents, 'chat-completions': chatEvents, messages: messagesEvents };

const MESSAGES_ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The ready-made answer of a dialect, for tests that run over all three. */
export function answerIn(dialect: Dialect, options: AnswerOptions = {}): Script {
  return ANSWERS[dialect](options);
}

/** The events of a dialect's streamed answer. */
export function eventsIn(dialect: Dialect, options: AnswerOptions = {}): ScriptedEvent[] {
  return EVENTS[dialect](options);
}

/** Events of a streamed answer around the first that says a text: without it and with it, on either side. */
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

/** An HTTP error; without a body one in the dialect's own shape. */
export function errorAnswer(
  dialect: Dialect,
  status: number,
  body: JsonObject = errorBody(dialect, status),
  headers: Headers = {},
): Script {
  return jsonAnswer(status, body, headers);
}

/** How a running stream of the dialect reports failure. `sequence` is the next sequence number (Responses only). */
export function errorEvents(
  dialect: Dialect,
  message = 'Upstream closed the stream.',
  sequence = 0,
): readonly ScriptedEvent[] {
  switch (dialect) {
    case 'responses':
      return responsesFailure(message, 'server_error', sequence);
    case 'chat-completions':
      return [{ data: { error: { message, type: 'server_error', param: null, code: 'server_error' } } }];
    case 'messages': {
      const error = { type: 'api_error', message };
      return [{ event: 'error', data: { type: 'error', error, request_id: 'req_upstream' } }];
    }
  }
}

/** A stream with a pause before every event; the head goes out at once. Give it events or the options of an answer. */
export function pacedStream(dialect: Dialect, events: readonly ScriptedEvent[] | AnswerOptions, gapMs: number): Script {
  const list = isEvents(events) ? events : eventsIn(dialect, events);
  return [streamHead(), ...list.map((event) => [delay(gapMs), sse([event])]), end()];
}

/**
 * A stream that opens properly and then repeats one text delta until the client leaves.
 * With `gapMs` 0 it writes as fast as the client reads.
 */
export function endlessStream(
  dialect: Dialect,
  options: { readonly text?: string; readonly gapMs?: number } = {},
): Script {
  const { text = 'again ', gapMs = 10 } = options;
  return function* () {
    const events = eventsIn(dialect, { text });
    const first = events.findIndex(({ data }) => isTextDelta(data));
    yield [streamHead(), sse(events.slice(0, first))];
    for (let index = first; ; index += 1) {
      if (gapMs > 0) yield delay(gapMs);
      yield sse(events.slice(first, first + 1).map((event) => renumber(event, index)));
    }
  };
}

function errorBody(dialect: Dialect, status: number): JsonObject {
  const message = `Scripted error ${status}.`;
  if (dialect === 'messages') {
    const type = MESSAGES_ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
    return { type: 'error', error: { type, message }, request_id: 'req_upstream' };
  }
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code: null } };
}

function isEvents(value: readonly ScriptedEvent[] | AnswerOptions): value is readonly ScriptedEvent[] {
  return Array.isArray(value);
}

function isTextDelta(data: ScriptedEvent['data']): boolean {
  if (typeof data === 'string') return false;
  const [choice] = (data['choices'] ?? []) as { readonly delta?: { readonly content?: string } }[];
  if (choice !== undefined) return Boolean(choice.delta?.content);
  return data['type'] === 'response.output_text.delta' || data['type'] === 'content_block_delta';
}

function renumber(event: ScriptedEvent, sequence: number): ScriptedEvent {
  if (typeof event.data === 'string' || !('sequence_number' in event.data)) return event;
  return { ...event, data: { ...event.data, sequence_number: sequence } };
}
