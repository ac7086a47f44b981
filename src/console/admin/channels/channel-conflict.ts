import type { ChannelRecord } from '../../../catalog/channels/index.js';
import { type Difference, differencesBetween, type FieldValue, type FormBody, typedCount } from '../../web/index.js';
import { costTexts } from './channel-costs.js';
import { FIELD_LABELS } from './channel-labels.js';
import { flagsFrom } from './flag-controls.js';
import { valuesOf } from './channel-values.js';

/** Differences between stored and typed values. Credentials are compared without showing them. */
export function differencesOf(stored: ChannelRecord, typed: FormBody, body: FormBody): readonly Difference[] {
  const now = valuesOf(stored);
  const fields = differencesBetween(FIELD_LABELS, now, typed, shown);
  const flags = { label: 'Flags', now: flagText(stored.flags), yours: flagText(flagsFrom(stored.flags, body)) };
  const held = { label: 'Credentials', now: shownList(now['held']), yours: shownList(typed['held']) };
  const credentials =
    held.now === held.yours ? [] : [{ ...held, now: 'changed since you opened the page', yours: 'as entered' }];
  const others = [flags, ...costsOf(stored, now, typed)].filter((field) => field.now !== field.yours);
  return [...fields, ...others, ...credentials];
}

/** For models in both versions. */
function costsOf(stored: ChannelRecord, now: FormBody, typed: FormBody): readonly Difference[] {
  const yours = costTexts(typed, stored);
  return [...costTexts(now, stored)].flatMap(([model, text]) => {
    const other = yours.get(model);
    return other === undefined ? [] : [{ label: `Cost of ${model}`, now: text, yours: other }];
  });
}

const flagText = (flags: Readonly<Record<string, unknown>>): string =>
  Object.keys(flags)
    .toSorted()
    .map((name) => `${name} ${String(flags[name])}`)
    .join(', ') || '–';

const shownList = (value: FieldValue): string => [value ?? []].flat().join();

function shown(value: FieldValue): string {
  const texts = typeof value === 'string' ? value.split(/\r?\n/) : (value ?? []);
  return texts
    .map((one) => String(typedCount(one) ?? one.trim()))
    .filter((one) => one !== '')
    .join(', ');
}
