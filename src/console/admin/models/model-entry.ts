import { EFFORTS } from '../../../protocols/contract/index.js';
import type { Flags } from '../../../catalog/index.js';
import { Numeral } from '../../../catalog/channels/index.js';
import { momentOf } from '../../../platform/shared/index.js';
import type { FormBody } from '../../web/index.js';
import { optionalDecimal, pairsIn, textOf, textsOf, wholeIn } from '../catalog-form.js';
import { tierCount, tierField, TOKEN_FIELDS } from './model-fields.js';
import { capabilityLine } from './model-values.js';

type Entry = Readonly<Record<string, unknown>>;

/** What stays as it is, because the form does not show it. */
interface Kept {
  readonly capabilities: Flags;
  readonly enabled: boolean;
}

/**
 * A form as an entry of the catalog file; whether it is a good one, the catalog file's own checks say. Prices that are
 * to begin later and stored already are not named, so they stay.
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

/** An entry that says no more than what calls cost: of the rest of the form nothing is asked. */
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

/** Whole numbers; what is none is kept as it was typed, to be refused. */
const numeralsIn = (text: string): Entry =>
  Object.fromEntries(Object.entries(pairsIn(text)).map(([name, value]) => [name, wholeIn(value)]));

const given = (pairs: Entry) => (Object.keys(pairs).length > 0 ? pairs : undefined);

const tierIn = (values: FormBody, index: number): Entry => ({
  from_prompt_tokens: index === 0 ? new Numeral('0') : (wholeIn(textOf(values, tierField(index, 'from'))) ?? ''),
  ...Object.fromEntries(
    TOKEN_FIELDS.map(({ name }) => [name, optionalDecimal(textOf(values, tierField(index, name)))]),
  ),
});

/** The time as it was typed where it is none, so that it is refused. */
function laterIn(values: FormBody, timeZone: string): string {
  const typed = textOf(values, 'from');
  return momentOf(typed, timeZone)?.toISOString() ?? (typed || 'nothing');
}

/** One on each line. A line that is as it was means what it meant: that a text is none of the other kinds is not lost. */
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
