import type { CatalogGroup } from '../../catalog/index.js';

/** What a model's price is multiplied by in a group, in millionths. */
export const multiplierFor = ({ multiplier, modelMultipliers }: CatalogGroup, model: string): bigint =>
  modelMultipliers.get(model) ?? multiplier;
