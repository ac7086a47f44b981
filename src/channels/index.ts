// Owns accounts at upstreams: address, credentials (sealed in the database), which channels can answer a call and in
// which order, the HTTP client to them, and the catalog file that describes them together with models and groups.
// Does not own what is said to an upstream (protocols), nor trying the next channel (relay).
export { type Channel, type ChannelCredential, type ChannelTimeouts, takesCalls } from './channel.js';
export { ChannelDirectory, type FallbackChannel } from './channel.directory.js';
export { DEFAULT_TIMEOUTS } from './channel-definition.js';
export { ChannelsModule } from './channels.module.js';
export { CatalogExport } from './catalog-file/catalog-export.service.js';
export { CatalogImport } from './catalog-file/catalog-import.service.js';
export { InvalidCatalog } from './catalog-file/invalid-catalog.js';
export { UpstreamClient, type UpstreamPart } from './upstream-client.js';
