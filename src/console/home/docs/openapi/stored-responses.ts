import { INVALID_TOKEN, NOT_FROM_HERE, ok, optional, type Paths, pathId, wrong } from './operation.js';
import { reference } from './schema.js';

const ID = pathId('ID of a response created with this key: resp_…');

const refused = {
  401: wrong(INVALID_TOKEN),
  403: wrong(NOT_FROM_HERE),
  404: wrong('Not stored for this key: expired, deleted, or never stored.'),
};

/** Responses that were kept because their requests did not say `store: false`. */
export const STORED_RESPONSES: Paths = {
  '/v1/responses/{id}': {
    get: {
      operationId: 'getResponse',
      summary: 'Get a stored response',
      parameters: [ID],
      responses: { 200: ok('The stored response.', { type: 'object' }), ...refused },
    },
    delete: {
      operationId: 'deleteResponse',
      summary: 'Forgets it',
      parameters: [ID],
      responses: { 200: ok('Deleted.', reference('DeletedResponse')), ...refused },
    },
  },
  '/v1/responses/{id}/input_items': {
    get: {
      operationId: 'listResponseInput',
      summary: 'List the input items of a stored response',
      parameters: [
        ID,
        optional('query', 'limit', 'Page size, max 100. Default: 20.', 'integer'),
        optional('query', 'order', 'asc or desc. Default: desc, newest first.'),
        optional('query', 'after', 'Return items after this one.'),
      ],
      responses: { 200: ok('A page of items.', reference('InputItems')), ...refused },
    },
  },
};
