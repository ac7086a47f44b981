/** Requests and responses of the test doubles, by protocol. */

import { clientOf, vendorOf } from '../conformance/protocols/index.js';
import { type NeutralRequest, neutralRequestOf } from './neutral-request.js';
import type { NeutralResponse } from './neutral-response.js';
import type { JsonObject } from './scripted-steps.js';

/** An unstreamed request of a client. */
export const requestIn = (client: string, requested: NeutralRequest): JsonObject =>
  clientOf(client).request(requested, false);

/** Reads an upstream request; see `neutralRequestOf`. */
export const readRequest = (vendor: string, request: JsonObject): NeutralRequest =>
  neutralRequestOf(vendorOf(vendor), request);

/** Reads an unstreamed response. */
export const readResponse = (client: string, body: JsonObject): NeutralResponse => clientOf(client).readResponse(body);

/** Reads a complete stream. For Chat Completions, the client must have requested usage. */
export const readStream = (client: string, stream: string): NeutralResponse => clientOf(client).readStream(stream);
