import type { Schema } from '../../src/console/home/docs/openapi/index.js';

type Schemas = Readonly<Record<string, Schema>>;

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
};

/** What a value has that its schema does not allow, or lacks; empty when it is as described. */
export function schemaErrors(value: unknown, schema: Schema, schemas: Schemas, path = '$'): string[] {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    const named = schemas[name];
    return named === undefined ? [`${path}: there is no schema ${name}`] : schemaErrors(value, named, schemas, path);
  }
  if (schema.oneOf !== undefined) {
    const errors = schema.oneOf.map((one) => schemaErrors(value, one, schemas, path));
    return errors.some((found) => found.length === 0) ? [] : errors.flat();
  }
  const types = [schema.type ?? typeOf(value)].flat();
  if (!types.includes(typeOf(value))) return [`${path}: ${typeOf(value)} is not ${types.join(' or ')}`];
  if (schema.const !== undefined && value !== schema.const) return [`${path}: ${String(value)} is not ${schema.const}`];
  if (schema.enum !== undefined && !schema.enum.includes(value as string))
    return [`${path}: ${String(value)} is not of the list`];
  if (Array.isArray(value))
    return value.flatMap((item, index) => schemaErrors(item, schema.items ?? {}, schemas, `${path}[${index}]`));
  return typeOf(value) === 'object' ? memberErrors(value as Record<string, unknown>, schema, schemas, path) : [];
}

function memberErrors(value: Record<string, unknown>, schema: Schema, schemas: Schemas, path: string): string[] {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const missing = required.filter((name) => !(name in value)).map((name) => `${path}.${name} is missing`);
  const extra = Object.keys(value).filter((name) => additionalProperties === false && !(name in properties));
  const wrong = Object.entries(value).flatMap(([name, member]) =>
    schemaErrors(member, properties[name] ?? {}, schemas, `${path}.${name}`),
  );
  return [...missing, ...extra.map((name) => `${path}.${name} is not described`), ...wrong];
}
