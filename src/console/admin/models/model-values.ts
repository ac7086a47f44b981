import { EFFORTS } from '../../../protocols/contract/index.js';
import type { Flags, ModelDefinition, TierDefinition } from '../../../catalog/index.js';
import { type FormBody } from '../../web/index.js';
import { count, price } from '../../../platform/format/index.js';
import { linesOf } from '../catalog-form.js';
import { TOKEN_FIELDS, tierField } from './model-fields.js';
import { localMinute, parseUsd } from '../../../platform/shared/index.js';

/** Initial form values of a new model. */
export const newValues = (): FormBody => ({ groups: ['default'], when: 'now', 'tier-0-from': '0' });

/** Form values of a stored model. */
export const valuesOf = (model: ModelDefinition, revision: string, timeZone: string): FormBody => ({
  name: model.name,
  displayName: model.displayName,
  ownedBy: model.ownedBy,
  contextWindow: count(model.contextWindow),
  maxOutputTokens: count(model.maxOutputTokens),
  groups: model.groups,
  capabilities: capabilityLines(model.capabilities).join('\n'),
  hiddenTokens: String(model.hiddenTokensPerSecond),
  free: model.pricing.free ? 'yes' : '',
  requestFee: model.pricing.request_fee === '0' ? '' : dollars(model.pricing.request_fee),
  serviceTiers: linesOf(model.pricing.service_tiers ?? {}),
  speeds: linesOf(model.pricing.speeds ?? {}),
  geos: linesOf(model.pricing.geos ?? {}),
  toolFees: linesOf(model.pricing.tool_fees ?? {}),
  toolMaxUses: linesOf(mapTexts(model.pricing.tool_max_uses ?? {})),
  imageGeneration: linesOf(model.pricing.image_generation ?? {}),
  ...Object.fromEntries(EFFORTS.map((effort) => [`effort-${effort}`, model.pricing.effort_multipliers[effort] ?? ''])),
  ...Object.assign({}, ...model.pricing.tiers.map(tierValues)),
  when: model.validFrom === undefined ? 'now' : 'later',
  from: model.validFrom === undefined ? '' : localMinute(model.validFrom, timeZone),
  reason: '',
  revision,
});

const mapTexts = (values: Readonly<Record<string, number>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

const tierValues = (tier: TierDefinition, index: number): FormBody => ({
  [tierField(index, 'from')]: count(tier.from_prompt_tokens),
  ...Object.fromEntries(TOKEN_FIELDS.map(({ name }) => [tierField(index, name), dollars(tier[name])])),
});

/** `3` as `3.00`, without rounding. */
const dollars = (text: string | undefined): string => (text === undefined ? '' : price(parseUsd(text)).slice(1));

/** `vision`, `stopMax: 4`, `efforts: low, high`: a list with one item ends with a comma to distinguish it from a text. */
export const capabilityLines = (flags: Flags): readonly string[] =>
  Object.keys(flags)
    .toSorted()
    .map((name) => capabilityLine(name, flags[name]));

export function capabilityLine(name: string, value: unknown): string {
  if (value === true) return name;
  if (!Array.isArray(value)) return `${name}: ${String(value)}`;
  return `${name}: ${value.join(', ')}${value.length === 1 ? ',' : ''}`;
}
