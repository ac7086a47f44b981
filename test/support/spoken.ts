/** What clients and vendors of a protocol say to each other, by the name of the protocol. */

import { clientOf, vendorOf } from '../conformance/protocols/index.js';
import { type Asked, askedOf } from './asked.js';
import type { Heard } from './heard.js';
import type { JsonObject } from './scripted-steps.js';

/** The request of a client, to be answered whole. */
export const requestIn = (client: string, asked: Asked): JsonObject => clientOf(client).request(asked, false);

/** What a vendor was asked for; as `askedOf`. */
export const askedIn = (vendor: string, request: JsonObject): Asked => askedOf(vendorOf(vendor), request);

/** What a client makes of a whole answer. */
export const heardIn = (client: string, body: JsonObject): Heard => clientOf(client).heard(body);

/** The same of a stream that came to its end. For Chat Completions, one whose client has asked for usage. */
export const heardStreamed = (client: string, stream: string): Heard => clientOf(client).heardStream(stream);
