// The description of /v1 as OpenAPI, written by hand: tests hold it against the routes and their answers.
import { ANSWERS } from './responses.js';
import type { Paths } from './operation.js';
import { REQUESTS } from './requests.js';

export const SCHEMAS = { ...ANSWERS, ...REQUESTS };

/** The whole document. @param base where people reach the service, without a trailing slash */
export const openApiDocument = (base: string, paths: Paths) => ({
  openapi: '3.1.0',
  info: {
    title: 'Switchboard',
    version: '1',
    description:
      'Call language models with one base address and one API key. Responses and errors have the format of the endpoint’s protocol, whichever protocol the model’s vendor uses.',
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

export type { Operation, Paths, Schema } from './operation.js';
export { pathsFor } from './operations.js';
