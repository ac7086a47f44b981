import { CALLS, callIn } from './calls.js';
import { STORED_RESPONSES } from './stored-responses.js';
import { INVALID_TOKEN, NO_MODEL, NOT_FROM_HERE, ok, optional, type Paths, pathId, wrong } from './operation.js';
import { reference } from './schema.js';

/** Everything that a program can ask for with a key. */
const PATHS: Paths = {
  ...CALLS,
  ...STORED_RESPONSES,
  '/v1/models': {
    get: {
      operationId: 'listModels',
      summary: 'List the models of this key',
      parameters: [
        optional('query', 'limit', 'Page size, max 1,000. Default: all, or 20 with anthropic-version.', 'integer'),
        optional('query', 'after_id', 'Return models after this one.'),
        optional('query', 'before_id', 'Return models before this one.'),
      ],
      responses: {
        200: ok('Newest first.', reference('ModelList')),
        401: wrong(INVALID_TOKEN),
        403: wrong(NOT_FROM_HERE),
      },
    },
  },
  '/v1/models/{id}': {
    get: {
      operationId: 'getModel',
      summary: 'Get a model',
      parameters: [pathId('Model name; may contain slashes.')],
      responses: {
        200: ok('The model.', reference('Model')),
        401: wrong(INVALID_TOKEN),
        403: wrong(NOT_FROM_HERE),
        404: wrong(NO_MODEL),
      },
    },
  },
  '/v1/key': {
    get: {
      operationId: 'getKey',
      summary: 'Get usage and limits of this key and its wallet',
      responses: {
        200: ok('The key of the request.', reference('Key')),
        401: wrong(INVALID_TOKEN),
        403: wrong(NOT_FROM_HERE),
      },
    },
  },
  '/v1/generations/{id}': {
    get: {
      operationId: 'getGeneration',
      summary: 'Get a call of this account with its cost calculation',
      parameters: [pathId('x-request-id of the call. Any key of the account may be used.')],
      responses: {
        200: ok('The call, available from its admission.', reference('Generation')),
        401: wrong(INVALID_TOKEN),
        403: wrong(NOT_FROM_HERE),
        404: wrong('Call not found.'),
      },
    },
  },
};

/** The same with the calls of every dialect that clients can speak. */
export const pathsFor = (dialects: readonly { readonly path: string; readonly fullName: string }[]): Paths => ({
  ...Object.fromEntries(dialects.map(({ path, fullName }) => [path, { post: callIn(fullName) }])),
  ...PATHS,
});
