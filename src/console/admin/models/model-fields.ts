import type { Fault } from '../../../catalog/channels/index.js';
import type { TokenClass } from '../../../catalog/index.js';
import { textOf } from '../catalog-form.js';
import type { FormBody } from '../../web/index.js';

/** One kind of tokens, as a tier has a field for it. */
interface TokenField {
  readonly name: TokenClass;
  readonly label: string;
  /** What it costs where nothing is entered. */
  readonly hint?: string;
  /** Beside those that every model has. */
  readonly isRare?: boolean;
}

/** In the order of the form. */
export const TOKEN_FIELDS: readonly TokenField[] = [
  { name: 'input', label: 'Input' },
  { name: 'cache_read', label: 'Cache read', hint: 'Empty: as input' },
  { name: 'output', label: 'Output', hint: 'Includes reasoning' },
  { name: 'cache_write_5m', label: 'Cache write, 5 minutes', hint: 'Empty: as input' },
  { name: 'cache_write_1h', label: 'Cache write, 1 hour', hint: 'Empty: as 5 minutes' },
  { name: 'cache_write_12h', label: 'Cache write, 12 hours', hint: 'Empty: as 1 hour', isRare: true },
  { name: 'reasoning', label: 'Reasoning', hint: 'Empty: as output', isRare: true },
  { name: 'image_input', label: 'Image input', hint: 'Empty: as input', isRare: true },
  { name: 'audio_input', label: 'Audio input', hint: 'Empty: as input', isRare: true },
  { name: 'audio_output', label: 'Audio output', hint: 'Empty: as output', isRare: true },
];

export const MOST_TIERS = 20;

/** The field of a tier's price, or `from`: from how many tokens of prompt on it counts. */
export const tierField = (index: number, name: TokenClass | 'from'): string => `tier-${index}-${name}`;

/** How many tiers a form has; the first is always there. */
export function tierCount(values: FormBody): number {
  let count = 1;
  while (count < MOST_TIERS && values[tierField(count, 'from')] !== undefined) count++;
  return count;
}

/** The form with a tier more, empty. */
export const withTier = (values: FormBody): FormBody => ({ ...values, [tierField(tierCount(values), 'from')]: '' });

/** The form without a tier that is not the first; those behind it move up. */
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

/** The field that a fault is about: `models[0].prices[1].input` is `tier-1-input`. */
export function fieldOf({ path, message }: Fault): string {
  const [, tier, item] = /\.prices\[(\d+)\]\.?(\w*)$/.exec(path) ?? [];
  if (tier !== undefined)
    return item === 'from_prompt_tokens' ? `tier-${tier}-from` : `tier-${tier}-${item || 'input'}`;
  const [, field = ''] = /^models\[0\]\.(\w+)/.exec(path) ?? [];
  // Of a mapping the name that is wrong stands at the end of what is said.
  if (field === 'effort_multipliers') return `effort-${/; (\S+) does not$/.exec(message)?.[1] ?? 'high'}`;
  return field === 'prices' ? tierField(1, 'from') : (FIELDS[field] ?? 'name');
}

/** What is told of a field that was changed meanwhile. */
export function labelsOf(values: FormBody): Readonly<Record<string, string>> {
  const tiers = Array.from({ length: tierCount(values) }, (_, index) => index);
  return {
    displayName: 'Shown as',
    ownedBy: 'Provider',
    contextWindow: 'Context window',
    maxOutputTokens: 'Longest answer',
    groups: 'Groups',
    capabilities: 'Capabilities',
    hiddenTokens: 'Thought in a second',
    free: 'Free',
    ...Object.fromEntries(tiers.flatMap((index) => tierLabels(index))),
    requestFee: 'Each call',
    toolFees: 'Tools',
    toolMaxUses: 'Tool uses',
    imageGeneration: 'Image generation',
    serviceTiers: 'Service tiers',
    speeds: 'Speeds',
    geos: 'Regions',
    ...Object.fromEntries(
      Object.keys(values)
        .filter((name) => name.startsWith('effort-'))
        .map((name) => [name, `Effort ${name.slice('effort-'.length)}`]),
    ),
  };
}

const tierLabels = (index: number): (readonly [string, string])[] => [
  ...(index === 0 ? [] : [[tierField(index, 'from'), `Long context ${index}, from`] as const]),
  ...TOKEN_FIELDS.map(
    ({ name, label }) => [tierField(index, name), index === 0 ? label : `Long context ${index}, ${label}`] as const,
  ),
];
