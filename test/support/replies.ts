/** The second turn of a client: what it was answered goes back as it came, with the results of its tools. */

import { clientOf } from '../conformance/protocols/index.js';
import type { JsonObject } from './scripted-steps.js';

/**
 * The request that follows a response with a call: the one before, what was answered, and a result of the call.
 * @param response as it came, a stream or JSON
 */
export const continued = (client: string, request: JsonObject, response: string, callId: string): JsonObject =>
  clientOf(client).continued(request, response, callId);
