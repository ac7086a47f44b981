export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

type Headers = Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>;

export interface OperationResponse {
  readonly description: string;
  readonly headers?: Headers;
  /** Absent: no body. */
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: true;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, OperationResponse>>;
}

type Method = 'get' | 'post' | 'delete';
export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;

export const json = (schema: Schema) => ({ 'application/json': { schema } });

export const header = (description: string): Headers[string] => ({ description, schema: { type: 'string' } });
export const REQUEST_ID: Headers = { 'x-request-id': header('The request ID: req_…') };

export const ok = (description: string, schema: Schema): OperationResponse => ({
  description,
  headers: REQUEST_ID,
  content: json(schema),
});

export const failed = (description: string, error = 'Error'): OperationResponse => ({
  description,
  content: json(reference(error)),
});

export const INVALID_TOKEN = 'Invalid token: the key is missing, unknown, disabled, deleted or expired.';
export const ADDRESS_NOT_ALLOWED = 'permission_denied: the key is not allowed from this IP address.';
export const NO_MODEL = 'model_not_found: the model is not available to this key.';

export const pathId = (description: string): Parameter => pathParameter('id', description);

export const pathParameter = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

export const optional = (place: 'query' | 'header', name: string, description: string, type = 'string'): Parameter => ({
  name,
  in: place,
  required: false,
  description,
  schema: { type },
});

/** The subset of JSON Schema used here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly const?: string;
  readonly example?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** An object that always has all of `properties`, and no other fields than these and `optionalProperties`. */
export const closed = (
  properties: Readonly<Record<string, Schema>>,
  description?: string,
  optionalProperties: Readonly<Record<string, Schema>> = {},
): Schema => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties: { ...properties, ...optionalProperties },
  required: Object.keys(properties),
  additionalProperties: false,
});

export const text = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });
export const orNull = (type: string, description?: string): Schema => ({
  type: [type, 'null'],
  ...(description && { description }),
});
export const usd = (description?: string): Schema => ({
  type: 'string',
  description: description ?? 'US dollars as a plain decimal.',
  example: '12.5',
});
