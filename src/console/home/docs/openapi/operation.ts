import { reference, type Schema } from './schema.js';

// What the description of the API is made of.

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
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
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

export const wrong = (description: string, error = 'Error'): OperationResponse => ({
  description,
  content: json(reference(error)),
});

export const INVALID_TOKEN = 'Invalid token: the key is missing, unknown, disabled, deleted or expired.';
/** A key has networks, or none. */
export const NOT_FROM_HERE = 'permission_denied: the key is not allowed from this IP address.';
export const NO_MODEL = 'model_not_found: the model is not available to this key.';

export const pathId = (description: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

/** What a request may have in its query or headers. */
export const optional = (place: 'query' | 'header', name: string, description: string, type = 'string'): Parameter => ({
  name,
  in: place,
  required: false,
  description,
  schema: { type },
});
