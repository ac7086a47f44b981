// Models, model groups with price multipliers, versioned prices, and the snapshot of them that calls use. Channels and
// the catalog file are in channels/; the cost of a call is computed in relay/billing.
export {
  type Catalog,
  type CatalogGroup,
  type CatalogModel,
  type Flags,
  GROUP_CHOICES,
  type GroupChoice,
} from './catalog.js';
export {
  CatalogEditor,
  type CatalogNames,
  DEFAULT_GROUP,
  type GroupMove,
  type KnownModel,
  movedGroups,
} from './catalog.editor.js';
export { CatalogModule } from './catalog.module.js';
export {
  type CatalogFollower,
  CatalogService,
  type FallbackModel,
  groupOfViewer,
  Offer,
  type OfferedModel,
} from './catalog.service.js';
export {
  type Change,
  type ChangedItem as Subject,
  describeChanges,
  difference,
  type Facts,
  listed,
  replaceAll,
  revisionOf,
  sortedPairs,
} from './changes.js';
export { type GroupDefinition, type ModelDefinition, DEFAULT_HIDDEN_TOKENS_PER_SECOND } from './definitions.js';
export {
  describePricing,
  formatMultiplier,
  FREE_PRICING,
  IMAGE_GENERATION_CLASSES,
  type ImageGenerationClass,
  parseMultiplier,
  parsePricing,
  type PriceTier,
  type Pricing,
  type PricingDefinition,
  REQUIRED_IMAGE_CLASSES,
  type TierDefinition,
  type TokenClass,
} from './pricing.js';
export { type BookModel, bookModels, type BookPrices } from './price-book.js';
export { PriceHistory, type RecordedPrices } from './price-editor.js';
export { type ModelFamily, type ProviderField, type ProviderPreset, PROVIDERS } from './providers.js';
