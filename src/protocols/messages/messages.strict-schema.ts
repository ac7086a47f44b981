import type { RawJson } from '../contract/index.js';
import { isJsonObject } from '../../platform/shared/index.js';

/** Whether a schema says all of its objects, as other dialects ask of one that binds the model: nothing optional, nothing else. */
export function isStrict({ value }: RawJson): boolean {
  return isClosed(value, true);
}

function isClosed(schema: unknown, isSchema: boolean): boolean {
  if (Array.isArray(schema)) return schema.every((entry) => isClosed(entry, true));
  if (!isJsonObject(schema)) return true;
  const { properties, required } = schema;
  if (isSchema && (schema['type'] === 'object' || isJsonObject(properties))) {
    const names = Object.keys(isJsonObject(properties) ? properties : {});
    const all = new Set(Array.isArray(required) ? (required as readonly unknown[]) : []);
    if (schema['additionalProperties'] !== false || !names.every((name) => all.has(name))) return false;
  }
  return Object.entries(schema).every(([name, value]) => isClosed(value, !(isSchema && NAMED.has(name))));
}

/** Their members are schemas by names of somebody's own. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
