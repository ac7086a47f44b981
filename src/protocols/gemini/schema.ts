import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { RawJson } from '../contract/index.js';

// Schemas in Google's subset of OpenAPI. https://ai.google.dev/api/caching#Schema

/** Members of the subset that JSON Schema has not, or reads differently. */
const DIFFERS =
  /"(?:nullable|property_?[oO]rdering|example|any_of|\w+_(?:items|length|properties))"|"type"\s*:\s*"[A-Z]/;
const WHOLE_NUMBERS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];
const SNAKE_CASE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    WHOLE_NUMBERS.map((name) => [name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`), name]),
  ),
  any_of: 'anyOf',
  property_ordering: 'propertyOrdering',
};
const NULL = { type: 'null' };

/** As JSON Schema; as written if it is valid as such. */
export const jsonSchemaOf = (schema: RawJson): RawJson =>
  DIFFERS.test(schema.text) ? new RawJson(JSON.stringify(converted(schema.value))) : schema;

function converted(schema: JsonObject): JsonObject {
  const members = Object.entries(schema).flatMap(([written, value]) => {
    const name = Object.hasOwn(SNAKE_CASE, written) ? (SNAKE_CASE[written] ?? written) : written;
    return memberOf(name, value);
  });
  const standard = Object.fromEntries(members);
  return schema['nullable'] === true ? orNull(standard) : standard;
}

function memberOf(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  switch (name) {
    case 'type':
      return value === 'TYPE_UNSPECIFIED' ? [] : [[name, typeof value === 'string' ? value.toLowerCase() : value]];
    case 'nullable':
    case 'propertyOrdering':
      return [];
    case 'example':
      return [['examples', [value]]];
    case 'format':
      return value === 'enum' ? [] : [[name, value]];
    case 'items':
      return [[name, isJsonObject(value) ? converted(value) : value]];
    case 'anyOf':
      return [
        [name, Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? converted(item) : item)) : value],
      ];
    case 'properties':
    case '$defs':
      return [[name, isJsonObject(value) ? eachConverted(value) : value]];
    default:
      return [[name, WHOLE_NUMBERS.includes(name) && typeof value === 'string' ? Number(value) : value]];
  }
}

const eachConverted = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isJsonObject(schema) ? converted(schema) : schema]),
  );

function orNull(schema: JsonObject): JsonObject {
  const { type, anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as unknown[]), NULL] };
  if (typeof type !== 'string') return schema;
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) };
}
