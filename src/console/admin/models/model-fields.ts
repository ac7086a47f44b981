import type { EntryError } from '../../../catalog/channels/index.js';
import type { TokenClass } from '../../../catalog/index.js';
import { textOf } from '../catalog-form.js';
import type { FormBody } from '../../web/index.js';

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

export const MAX_TIERS = 20;

/** The field of a tier's price, or of its minimum prompt tokens (`from`). */
export const tierField = (index: number, name: TokenClass | 'from'): string => `tier-${index}-${name}`;

/** The number of tiers in a form, at least 1. */
export function tierCount(values: FormBody): number {
  let count = 1;
  while (count < MAX_TIERS && values[tierField(count, 'from')] !== undefined) count++;
  return count;
}

/** The form with another, empty tier. */
export const withTier = (values: FormBody): FormBody => ({ ...values, [tierField(tierCount(values), 'from')]: '' });

/** The form without a tier; the first one cannot be removed. */
export function withoutTier(values: FormBody, removed: number): FormBody {
  const count = tierCount(values);
  const names = ['from' as const, ...TOKEN_FIELDS.map(({ name }) => name)];
  const kept = Object.entries(values).filter(([name]) => !/^tier-\d+-/.test(name));
  const tiers = Array.from({ length: count }, (_, index) => index).filter((index) => index !== removed || index === 0);
  const moved = tiers.flatMap((from, to) =>
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
    hiddenTokens: 'Hidden reasoning per second',
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
