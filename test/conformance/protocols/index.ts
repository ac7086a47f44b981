/** Test doubles of all protocols. A new client or vendor needs an import and an entry. */

import type { ClientDouble } from '../client-double.js';
import type { VendorDouble } from '../vendor-double.js';
import { chatClient } from './chat-completions/client.js';
import { chatVendor } from './chat-completions/vendor.js';
import { geminiClient } from './gemini/client.js';
import { geminiVendor } from './gemini/vendor.js';
import { interactionsVendor } from './interactions/vendor.js';
import { messagesClient } from './messages/client.js';
import { messagesVendor } from './messages/vendor.js';
import { responsesClient } from './responses/client.js';
import { responsesVendor } from './responses/vendor.js';

export const CLIENTS: readonly ClientDouble[] = [
  chatClient, //
  geminiClient,
  messagesClient,
  responsesClient,
];

export const VENDORS: readonly VendorDouble[] = [
  chatVendor, //
  geminiVendor,
  interactionsVendor,
  messagesVendor,
  responsesVendor,
];

export const clientOf = (id: string): ClientDouble => named(CLIENTS, id);

export const vendorOf = (id: string): VendorDouble => named(VENDORS, id);

function named<Played extends { readonly id: string }>(list: readonly Played[], id: string): Played {
  const found = list.find((one) => one.id === id);
  if (found === undefined) throw new Error(`test/conformance/protocols/index.ts has no ${id}.`);
  return found;
}
