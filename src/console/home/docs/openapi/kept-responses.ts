import { INVALID_TOKEN, NOT_FROM_HERE, ok, optional, type Paths, pathId, wrong } from './operation.js';
import { reference } from './schema.js';

const ID = pathId('The ID of a response that was made with this key: resp_…');

const refused = {
  401: wrong(INVALID_TOKEN),
  403: wrong(NOT_FROM_HERE),
  404: wrong('No such response is kept for this key: it expired, was deleted, or was never kept.'),
};

/** Responses that were kept because their requests did not say `store: false`. */
export const KEPT_RESPONSES: Paths = {
  '/v1/responses/{id}': {
    get: {
      operationId: 'getResponse',
      summary: 'A response that was kept',
      parameters: [ID],
      responses: { 200: ok('The response, as it was given.', { type: 'object' }), ...refused },
    },
    delete: {
      operationId: 'deleteResponse',
      summary: 'Forgets it',
      parameters: [ID],
      responses: { 200: ok('It is gone.', reference('DeletedResponse')), ...refused },
    },
  },
  '/v1/responses/{id}/input_items': {
    get: {
      operationId: 'listResponseInput',
      summary: 'What it was an answer to',
      parameters: [
        ID,
        optional('query', 'limit', 'At most so many items, up to 100; 20 without it.', 'integer'),
        optional('query', 'order', 'asc or desc; newest first without it.'),
        optional('query', 'after', 'Only items behind this one.'),
      ],
      responses: { 200: ok('A page of items.', reference('InputItems')), ...refused },
    },
  },
};
