/** Ready-made answers with something changed in all of their objects, streamed or whole as the upstream is asked. */

import { vendorOf } from '../conformance/protocols/index.js';
import { jsonIn } from './scripted-bodies.js';
import { type ResponseOptions, jsonResponse } from './scripted-content.js';
import {
  type ProtocolEndpoint,
  end,
  type JsonObject,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from './scripted-steps.js';

type Change = (value: JsonObject) => JsonObject;

/** @param change of each object, the inner ones first */
export function variantOf(protocol: string, options: ResponseOptions, change: Change): Script {
  const vendor = vendorOf(protocol);
  return (request) => {
    if (!vendor.wantsStream(request)) return jsonResponse(200, changed(vendor.body(options), change));
    return [streamHead(), sse(changedEvents(vendor.events(options, jsonIn(request)), change)), end()];
  };
}

/** The same events, named after what they have become. */
export const changedEvents = (events: readonly ScriptedEvent[], change: Change): ScriptedEvent[] =>
  events.map((event) => {
    if (typeof event.data === 'string') return event;
    const data = changed(event.data, change);
    return event.event === undefined ? { data } : { event: data['type'] as string, data };
  });

const changed = (value: JsonObject, change: Change): JsonObject =>
  JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member) ? change(member as JsonObject) : member,
  ) as JsonObject;

/** A response that says nothing of what was used. */
export const responseWithoutUsage = (protocol: ProtocolEndpoint, options: ResponseOptions = {}): Script =>
  variantOf(protocol, options, (value) => ({ ...value, usage: undefined }));

/** A refusal in words, as each vendor gives one. */
export function refusalResponse(protocol: ProtocolEndpoint, text: string): Script {
  switch (protocol) {
    case 'responses':
      return variantOf(protocol, { text }, refusedItems);
    case 'chat-completions':
      return variantOf(protocol, { text }, (value) =>
        value['content'] === text ? { ...value, content: null, refusal: text } : value,
      );
    case 'messages':
      return variantOf(protocol, { text: '', stop: 'filter' }, (value) =>
        value['stop_reason'] === 'refusal'
          ? { ...value, stop_details: { type: 'refusal', category: null, explanation: text } }
          : value,
      );
  }
}

function refusedItems({ type, text, ...rest }: JsonObject): JsonObject {
  switch (type) {
    case 'output_text':
      return { type: 'refusal', refusal: text };
    case 'response.output_text.delta':
      return { type: 'response.refusal.delta', ...rest };
    case 'response.output_text.done':
      return { type: 'response.refusal.done', ...rest, refusal: text };
    default:
      return { ...(type !== undefined && { type }), ...rest, ...(text !== undefined && { text }) };
  }
}
