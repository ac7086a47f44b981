import { pathForModel } from '../../../protocols/contract/index.js';
import { type CodePiece, curlCommand, highlighted, jsonText } from '../../web/index.js';
import { EXAMPLES } from './examples.js';
import { type Operation, type Paths, type Schema, SCHEMAS } from './openapi/index.js';

interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** Public address, and the model that examples name. */
export interface ExampleSite {
  readonly base: string;
  readonly model: string;
}

export type OperationView = ReturnType<typeof operationView>;

export const referenceView = (paths: Paths, site: ExampleSite): readonly OperationView[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationView(method.toUpperCase(), path, operation, site)),
  );

function operationView(method: string, path: string, operation: Operation, site: ExampleSite) {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const body = bodyOf(requestBody?.content);
  const response = bodyOf(responses['200']?.content);
  return {
    id: operationId,
    method,
    path,
    summary,
    example: exampleOf(operationId, method, path, site),
    sent: [
      ...parameters.map((parameter) => ({
        name: parameter.name,
        type: `${parameter.in}, ${typeText(parameter.schema)}`,
        required: parameter.required,
        description: parameter.description,
      })),
      ...fields(body),
    ],
    note: body?.description,
    got: fields(response),
    statuses: Object.entries(responses).map(([status, { description }]) => ({ status, description })),
  };
}

/** The value of `{id}` in examples, by the start of the path; elsewhere, the model. */
const IDS = [
  ['/v1/responses/', 'resp_ID'],
  ['/v1/conversations/', 'conv_ID'],
  ['/v1/generations/', 'req_ID'],
] as const;

interface ExampleCode {
  readonly request: readonly CodePiece[];
  readonly response: readonly CodePiece[];
}

function exampleOf(
  operationId: string,
  method: string,
  path: string,
  { base, model }: ExampleSite,
): ExampleCode | undefined {
  const example = EXAMPLES[operationId];
  if (example === undefined) return undefined;
  const { body, response } = example;
  const id = IDS.find(([start]) => path.startsWith(start))?.[1] ?? encodeURIComponent(model);
  const url = base + pathForModel(path, model).replace('{id}', id).replace('{itemId}', 'msg_ID');
  return {
    request: highlighted(
      curlCommand(url, {
        ...(body === undefined && method !== 'GET' && { method }),
        ...(body !== undefined && { body: jsonText(body(model)) }),
      }),
      'shell',
    ),
    response: highlighted(jsonText(response), 'javascript'),
  };
}

const bodyOf = (content: Readonly<Record<string, { readonly schema: Schema }>> | undefined): Schema | undefined => {
  const schema = content?.['application/json']?.schema;
  return schema && resolved(schema);
};

/** Fields of an object; nested fields and those of array items follow their parent. */
function fields(schema: Schema | undefined, prefix = ''): FieldRow[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    const own = resolved(property);
    const row = {
      name: prefix + name,
      type: typeText(property),
      required: schema?.required?.includes(name) ?? false,
      description: own.description ?? '',
    };
    const inner = own.items ? fields(resolved(own.items), `${prefix}${name}[].`) : fields(own, `${prefix}${name}.`);
    return [row, ...inner];
  });
}

/** Resolves references, and nullable types to the type. */
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
