import { CALLS, callIn } from './calls.js';
import { KEPT_RESPONSES } from './kept-responses.js';
import { INVALID_TOKEN, NO_MODEL, NOT_FROM_HERE, ok, optional, type Paths, pathId, wrong } from './operation.js';
import { reference } from './schema.js';

/** Everything that a program can ask for with a key. */
const PATHS: Paths = {
  ...CALLS,
  ...KEPT_RESPONSES,
  '/v1/models': {
    get: {
      operationId: 'listModels',
      summary: 'The models that this key can call',
      parameters: [
        optional(
          'query',
          'limit',
          'At most so many models, up to 1,000; all without it, or 20 with anthropic-version.',
          'integer',
        ),
        optional('query', 'after_id', 'Only models behind this one.'),
        optional('query', 'before_id', 'Only models before this one.'),
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
      summary: 'One of them',
      parameters: [pathId('Its name, which may hold slashes.')],
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
      summary: 'What this key has used and left, and the wallet behind it',
      responses: {
        200: ok('The key that asked.', reference('Key')),
        401: wrong(INVALID_TOKEN),
        403: wrong(NOT_FROM_HERE),
      },
    },
  },
  '/v1/generations/{id}': {
    get: {
      operationId: 'getGeneration',
      summary: 'What became of a call of this account, and how its cost came about',
      parameters: [pathId('The x-request-id of its answer. Any key of the account may ask.')],
      responses: {
        200: ok('The call, from its admission on.', reference('Generation')),
        401: wrong(INVALID_TOKEN),
        403: wrong(NOT_FROM_HERE),
        404: wrong('This account has no such call.'),
      },
    },
  },
};

/** The same with the calls of every dialect that clients can speak. */
export const pathsFor = (dialects: readonly { readonly path: string; readonly fullName: string }[]): Paths => ({
  ...Object.fromEntries(dialects.map(({ path, fullName }) => [path, { post: callIn(fullName) }])),
  ...PATHS,
});
