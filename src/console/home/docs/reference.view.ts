import { type Operation, type Paths, type Schema, SCHEMAS } from './openapi/index.js';

/** A member of a request or an answer, as a row. */
interface MemberRow {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** The description of the API as tables: the same data that programs read as OpenAPI. */
export const referenceView = (paths: Paths) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationView(method.toUpperCase(), path, operation)),
  );

function operationView(method: string, path: string, operation: Operation) {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const body = bodyOf(requestBody?.content);
  const answer = bodyOf(responses['200']?.content);
  return {
    id: operationId,
    method,
    path,
    summary,
    sent: [
      ...parameters.map((parameter) => ({
        name: parameter.name,
        type: `${parameter.in}, ${typeText(parameter.schema)}`,
        required: parameter.required,
        description: parameter.description,
      })),
      ...members(body),
    ],
    note: body?.description,
    got: members(answer),
    statuses: Object.entries(responses).map(([status, { description }]) => ({ status, description })),
  };
}

const bodyOf = (content: Readonly<Record<string, { readonly schema: Schema }>> | undefined): Schema | undefined => {
  const schema = content?.['application/json']?.schema;
  return schema && resolved(schema);
};

/** The members of an object, those of objects within it behind their own; lists of objects likewise. */
function members(schema: Schema | undefined, prefix = ''): MemberRow[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    const own = resolved(property);
    const row = {
      name: prefix + name,
      type: typeText(property),
      required: schema?.required?.includes(name) ?? false,
      description: own.description ?? '',
    };
    const inner = own.items ? members(resolved(own.items), `${prefix}${name}[].`) : members(own, `${prefix}${name}.`);
    return [row, ...inner];
  });
}

/** What a reference points at; of two possibilities the one that is not null. */
function resolved(schema: Schema): Schema {
  const either = schema.oneOf?.find(({ type }) => type !== 'null');
  if (either !== undefined) return resolved(either);
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (SCHEMAS[name] ?? schema);
}

function typeText(schema: Schema): string {
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeText).join(' or ');
  const { type = 'object', const: fixed, enum: values } = resolved(schema);
  if (fixed !== undefined) return `“${fixed}”`;
  if (values !== undefined) return values.map((value) => value ?? 'null').join(' | ');
  return [type].flat().join(' or ');
}
