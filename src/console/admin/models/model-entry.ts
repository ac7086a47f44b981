import { EFFORTS } from '../../../protocols/contract/index.js';
import type { Flags } from '../../../catalog/index.js';
import { Numeral } from '../../../catalog/channels/index.js';
import { momentOf } from '../../../platform/shared/index.js';
import type { FormBody } from '../../web/index.js';
import { optionalDecimal, pairsIn, textOf, textsOf, wholeIn } from '../catalog-form.js';
import { tierCount, tierField, TOKEN_FIELDS } from './model-fields.js';
import { capabilityLine } from './model-values.js';

type Entry = Readonly<Record<string, unknown>>;

/** Values that the form does not show. */
interface Kept {
  readonly capabilities: Flags;
  readonly enabled: boolean;
}

/**
 * The form as a catalog file entry, to be validated by the catalog file's checks. Stored upcoming prices are omitted, which
 * keeps them.
 */
export const entryOf = (values: FormBody, kept: Kept, timeZone: string): Entry => ({
  name: textOf(values, 'name'),
  display_name: textOf(values, 'displayName') || undefined,
  owned_by: textOf(values, 'ownedBy'),
  context_window: wholeIn(textOf(values, 'contextWindow')),
  max_output_tokens: wholeIn(textOf(values, 'maxOutputTokens')),
  groups: textsOf(values, 'groups'),
  capabilities: capabilitiesIn(textOf(values, 'capabilities'), kept.capabilities),
  hidden_tokens_per_second: wholeIn(textOf(values, 'hiddenTokens')),
  enabled: kept.enabled,
  ...pricesIn(values),
  valid_from: textOf(values, 'when') === 'later' ? laterIn(values, timeZone) : undefined,
});

/** An entry with prices only, so that the rest of the form is not validated. */
export const pricesOnly = (values: FormBody): Entry => ({
  name: 'any',
  context_window: new Numeral('1'),
  max_output_tokens: new Numeral('1'),
  ...pricesIn(values),
});

function pricesIn(values: FormBody): Entry {
  const efforts = EFFORTS.map((effort) => [effort, optionalDecimal(textOf(values, `effort-${effort}`))] as const);
  return {
    request_fee: optionalDecimal(textOf(values, 'requestFee')),
    effort_multipliers: Object.fromEntries(efforts.filter(([, multiplier]) => multiplier !== undefined)),
    service_tiers: given(pairsIn(textOf(values, 'serviceTiers'))),
    speeds: given(pairsIn(textOf(values, 'speeds'))),
    geos: given(pairsIn(textOf(values, 'geos'))),
    tool_fees: given(pairsIn(textOf(values, 'toolFees'))),
    tool_max_uses: given(numeralsIn(textOf(values, 'toolMaxUses'))),
    image_generation: given(pairsIn(textOf(values, 'imageGeneration'))),
    prices:
      textOf(values, 'free') === 'yes'
        ? 'free'
        : Array.from({ length: tierCount(values) }, (_, index) => tierIn(values, index)),
  };
}

/** Invalid numbers are kept as typed, to be rejected. */
const numeralsIn = (text: string): Entry =>
  Object.fromEntries(Object.entries(pairsIn(text)).map(([name, value]) => [name, wholeIn(value)]));

const given = (pairs: Entry) => (Object.keys(pairs).length > 0 ? pairs : undefined);

const tierIn = (values: FormBody, index: number): Entry => ({
  from_prompt_tokens: index === 0 ? new Numeral('0') : (wholeIn(textOf(values, tierField(index, 'from'))) ?? ''),
  ...Object.fromEntries(
    TOKEN_FIELDS.map(({ name }) => [name, optionalDecimal(textOf(values, tierField(index, name)))]),
  ),
});

/** Returns an invalid time as typed, so that it is rejected. */
function laterIn(values: FormBody, timeZone: string): string {
  const typed = textOf(values, 'from');
  return momentOf(typed, timeZone)?.toISOString() ?? (typed || 'nothing');
}

/** One capability per line. An unchanged line keeps its stored value and type. */
function capabilitiesIn(text: string, stored: Flags): unknown[] {
  const known = new Map(Object.entries(stored).map(([name, value]) => [capabilityLine(name, value), { name, value }]));
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const kept = known.get(line);
      if (kept !== undefined) return { [kept.name]: kept.value };
      const [, name = line, value] = /^([^\s:]+)\s*:\s*(.*)$/.exec(line) ?? [];
      return value === undefined ? name : { [name]: capabilityIn(value) };
    });
}

function capabilityIn(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+$/.test(text)) return new Numeral(text);
  if (!text.includes(',')) return text;
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
