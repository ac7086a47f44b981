// Upstream accounts: address, sealed credentials, flags and costs, and the catalog file that describes them together
// with models and groups. Choosing a channel and calling it are in relay/routing and relay/upstream.
export {
  type Channel,
  type ChannelCredential,
  type ChannelTimeouts,
  refusesUnknownMembers,
  sharesState,
  type DisabledChannel,
  takesCalls,
  type UpstreamCost,
  upstreamModel,
} from './channel.js';
export { ChannelDirectory, type FallbackChannel } from './channel.directory.js';
export { DEFAULT_TIMEOUTS } from './channel-definition.js';
export { ChannelsModule } from './channels.module.js';
export {
  CatalogChanges,
  CatalogImport,
  ChangedMeanwhile,
  type GroupMoves,
  RefusedEntries,
} from './catalog-file/catalog-import.service.js';
export {
  ChannelChanges,
  ChannelDrafts,
  type EditedChannel,
  type EditedCredential,
} from './catalog-file/channel-changes.js';
export { type CatalogEntry, groupEntry, modelEntry } from './catalog-file/entries-from-definitions.js';
export {
  CatalogExport,
  CatalogInventory,
  type Inventory,
  type WithRevision,
} from './catalog-file/catalog-export.service.js';
export { type EntryError, InvalidCatalog } from './catalog-file/read-catalog-file.js';
export { Numeral } from './catalog-file/fields.js';
export type { ChannelRecord, CredentialNote } from './channel.editor.js';
export { ForbiddenAddress, isForbidden, lookupAllowed } from './forbidden-addresses.js';
export { GOOGLE_TOKEN_URL, InvalidKeyFile, isKeyFile, readKeyFile, type ServiceAccount } from './service-account.js';
