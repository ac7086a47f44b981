import type { EntryError } from '../../../catalog/channels/index.js';
import type { Flags, ModelDefinition, TierDefinition, TokenClass } from '../../../catalog/index.js';
import { count, price } from '../../../platform/format/index.js';
import { localMinute, parseUsd } from '../../../platform/shared/index.js';
import { EFFORTS } from '../../../protocols/contract/index.js';
import type { FormBody } from '../../web/index.js';
import { linesOf, textOf } from '../catalog-form.js';

/** A token type with a price field in each tier. */
interface TokenField {
  readonly name: TokenClass;
  readonly label: string;
  /** The default price. */
  readonly hint?: string;
  /** Not relevant for most models; collapsed by default. */
  readonly isRare?: boolean;
}

/** In the order of the form. */
export const TOKEN_FIELDS: readonly TokenField[] = [
  { name: 'input', label: 'Input' },
  { name: 'cache_read', label: 'Cache read', hint: 'Default: input price' },
  { name: 'output', label: 'Output', hint: 'Includes reasoning' },
  { name: 'cache_write_5m', label: 'Cache write, 5 minutes', hint: 'Default: input price' },
  { name: 'cache_write_1h', label: 'Cache write, 1 hour', hint: 'Default: 5-minute price' },
  { name: 'cache_write_12h', label: 'Cache write, 12 hours', hint: 'Default: 1-hour price', isRare: true },
  { name: 'reasoning', label: 'Reasoning', hint: 'Default: output price', isRare: true },
  { name: 'image_input', label: 'Image input', hint: 'Default: input price', isRare: true },
  { name: 'audio_input', label: 'Audio input', hint: 'Default: input price', isRare: true },
  { name: 'audio_output', label: 'Audio output', hint: 'Default: output price', isRare: true },
];

const MAX_TIERS = 20;

/** The field of a tier's price, or of its minimum prompt tokens (`from`). */
export const tierField = (index: number, name: TokenClass | 'from'): string => `tier-${index}-${name}`;

/** The number of tiers in a form, at least 1. */
export function tierCount(values: FormBody): number {
  let tiers = 1;
  while (tiers < MAX_TIERS && values[tierField(tiers, 'from')] !== undefined) tiers++;
  return tiers;
}

/** The form with another, empty tier. */
export const withTier = (values: FormBody): FormBody => ({ ...values, [tierField(tierCount(values), 'from')]: '' });

/** The form without a tier; the first one cannot be removed. */
export function withoutTier(values: FormBody, removed: number): FormBody {
  const tiers = tierCount(values);
  const names = ['from' as const, ...TOKEN_FIELDS.map(({ name }) => name)];
  const kept = Object.entries(values).filter(([name]) => !/^tier-\d+-/.test(name));
  const indexes = Array.from({ length: tiers }, (_, index) => index).filter(
    (index) => index !== removed || index === 0,
  );
  const moved = indexes.flatMap((from, to) =>
    names.map((name) => [tierField(to, name), textOf(values, tierField(from, name))]),
  );
  return Object.fromEntries([...kept, ...moved]);
}

const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  display_name: 'displayName',
  owned_by: 'ownedBy',
  context_window: 'contextWindow',
  max_output_tokens: 'maxOutputTokens',
  groups: 'groups',
  capabilities: 'capabilities',
  hidden_tokens_per_second: 'hiddenTokens',
  request_fee: 'requestFee',
  service_tiers: 'serviceTiers',
  speeds: 'speeds',
  geos: 'geos',
  tool_fees: 'toolFees',
  tool_max_uses: 'toolMaxUses',
  image_generation: 'imageGeneration',
  valid_from: 'from',
  upcoming: 'from',
};

/** The field of an error path: `models[0].prices[1].input` is `tier-1-input`. */
export function fieldOf({ path, message }: EntryError): string {
  const [, tier, item] = /\.prices\[(\d+)\]\.?(\w*)$/.exec(path) ?? [];
  if (tier !== undefined)
    return item === 'from_prompt_tokens' ? `tier-${tier}-from` : `tier-${tier}-${item || 'input'}`;
  const [, field = ''] = /^models\[0\]\.(\w+)/.exec(path) ?? [];
  // The message ends with the invalid name of the mapping.
  if (field === 'effort_multipliers') return `effort-${/; (\S+) does not$/.exec(message)?.[1] ?? 'high'}`;
  return field === 'prices' ? tierField(1, 'from') : (FIELDS[field] ?? 'name');
}

/** Labels of fields with conflicting changes. */
export function labelsOf(values: FormBody): Readonly<Record<string, string>> {
  const tiers = Array.from({ length: tierCount(values) }, (_, index) => index);
  return {
    displayName: 'Display name',
    ownedBy: 'Provider',
    contextWindow: 'Context window',
    maxOutputTokens: 'Output limit',
    groups: 'Groups',
    capabilities: 'Capabilities',
    hiddenTokens: 'Hidden reasoning tokens per second',
    free: 'Free',
    ...Object.fromEntries(tiers.flatMap((index) => tierLabels(index))),
    requestFee: 'Fee per call',
    toolFees: 'Hosted tool fees',
    toolMaxUses: 'Max tool uses',
    imageGeneration: 'Image generation',
    serviceTiers: 'Service tiers',
    speeds: 'Speeds',
    geos: 'Inference regions',
    ...Object.fromEntries(
      Object.keys(values)
        .filter((name) => name.startsWith('effort-'))
        .map((name) => [name, `Effort ${name.slice('effort-'.length)}`]),
    ),
  };
}

const tierLabels = (index: number): (readonly [string, string])[] => [
  ...(index === 0 ? [] : [[tierField(index, 'from'), `Long context ${index}, minimum prompt`] as const]),
  ...TOKEN_FIELDS.map(
    ({ name, label }) => [tierField(index, name), index === 0 ? label : `Long context ${index}, ${label}`] as const,
  ),
];

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
const capabilityLines = (flags: Flags): readonly string[] =>
  Object.keys(flags)
    .toSorted()
    .map((name) => capabilityLine(name, flags[name]));

export function capabilityLine(name: string, value: unknown): string {
  if (value === true) return name;
  if (!Array.isArray(value)) return `${name}: ${String(value)}`;
  return `${name}: ${value.join(', ')}${value.length === 1 ? ',' : ''}`;
}
