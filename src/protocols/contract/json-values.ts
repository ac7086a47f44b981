import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

// Lenient access to parsed JSON of upstreams: unexpected values count as empty.

export function objectIn(parent: JsonObject | undefined, name: string): JsonObject {
  const value = parent?.[name];
  return isJsonObject(value) ? value : {};
}

export const objectsIn = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
