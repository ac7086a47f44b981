// The OpenAPI document of /v1, written by hand and tested against the routes and their responses.
import type { Paths } from './schema.js';
import { SCHEMAS } from './schemas.js';

/** @param base public URL without a trailing slash */
export const openApiDocument = (base: string, paths: Paths) => ({
  openapi: '3.1.0',
  info: {
    title: 'Switchboard',
    version: '1',
    description:
      'Call language models with one base URL and one API key. Responses and errors have the format of the endpoint’s protocol, whichever protocol the model’s vendor uses.',
  },
  servers: [{ url: base }],
  security: [{ bearer: [] }, { apiKey: [] }],
  paths,
  components: {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    },
    schemas: SCHEMAS,
  },
});

export { pathsFor } from './operations.js';
export type { Operation, Paths, Schema } from './schema.js';
export { SCHEMAS };
