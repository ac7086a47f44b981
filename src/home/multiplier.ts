import { type CatalogGroup, formatMultiplier } from '../catalog/index.js';

/** What a model's price is multiplied by in a group, in millionths. */
export const multiplierFor = ({ multiplier, modelMultipliers }: CatalogGroup, model: string): bigint =>
  modelMultipliers.get(model) ?? multiplier;

/** `× 0.80`: at least two digits after the point, and every one that it has. */
export function timesText(millionths: bigint): string {
  const [whole = '', fraction = ''] = formatMultiplier(millionths).split('.');
  return `× ${whole}.${fraction.padEnd(2, '0')}`;
}
