/** Request bodies: checks and lookups shared by the protocols. */

import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { DemoRefusal } from './demo.response.js';

/** Fields whose strings are text a model reads. Images, files and ids stand in others and are not counted. */
const TEXT_FIELDS = ['text', 'content', 'output', 'arguments', 'summary', 'thinking', 'reasoning_content'] as const;

/** Parses a request body. @throws DemoRefusal (400) unless it is one JSON object. */
export function parseBody(bytes: Buffer): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new DemoRefusal('The request body is not valid JSON.');
  }
  if (!isJsonObject(body)) throw new DemoRefusal('The request body must be a JSON object.');
  return body;
}

/** @throws DemoRefusal (400) unless `model` is a non-empty string. */
export function readModel(body: JsonObject): string {
  const model = body['model'];
  if (typeof model === 'string' && model !== '') return model;
  throw refuseField('model', model, 'must be a string');
}

/** Absent and null mean false. @throws DemoRefusal (400) if `stream` is neither of these nor a boolean. */
export function readStream(body: JsonObject): boolean {
  const stream = body['stream'] ?? false;
  if (typeof stream === 'boolean') return stream;
  throw refuseField('stream', stream, 'must be true or false');
}

/** @throws DemoRefusal (400) unless the field is absent, null or an integer of at least `minimum`. */
export function readLimit(body: JsonObject, field: string, minimum: number): number | undefined {
  const limit = body[field] ?? undefined;
  if (limit === undefined) return undefined;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= minimum) return limit;
  throw refuseField(field, limit, `must be an integer of at least ${minimum}`);
}

/** @throws DemoRefusal (400) unless `field` is a list of at least one object. */
export function readItems(body: JsonObject, field: string): readonly JsonObject[] {
  const items = body[field];
  if (Array.isArray(items) && items.length > 0 && items.every(isJsonObject)) return items;
  throw refuseField(field, items, 'must be a non-empty array of objects');
}

/** All texts inside a message, a list of content parts, or a plain string, in order. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isJsonObject(value)) return [];
  return TEXT_FIELDS.flatMap((field) => textsIn(value[field]));
}

/** Tool definitions are part of the prompt too; they count as their JSON. */
export function toolTextsIn(body: JsonObject): string[] {
  return Array.isArray(body['tools']) ? [JSON.stringify(body['tools'])] : [];
}

/** Text of the last message whose role is user; empty if there is none. */
export function lastUserTextIn(messages: readonly JsonObject[]): string {
  const last = messages.findLast((message) => message['role'] === 'user');
  return textsIn(last?.['content']).join(' ');
}

function refuseField(field: string, value: unknown, rule: string): DemoRefusal {
  if (value === undefined) {
    return new DemoRefusal(`The field ${field} is missing: it ${rule}.`, {
      param: field,
      code: 'missing_required_parameter',
    });
  }
  return new DemoRefusal(`The field ${field} ${rule}.`, { param: field, code: 'invalid_value' });
}
