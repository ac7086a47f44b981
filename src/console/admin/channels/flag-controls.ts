import type { ChannelRecord } from '../../../catalog/channels/index.js';
import { type FormBody, typedCount } from '../../web/index.js';
import { FLAGS, type FlagLabels } from './flag-labels.js';

type Flags = ChannelRecord['flags'];
type FlagValue = Flags[string];

const PREFIX = '_flag.';

/** The view of a flag. */
interface FlagControl {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly text: string;
  /** Absent for text fields. */
  readonly options?: readonly { readonly value: string; readonly label: string; readonly selected: boolean }[];
  readonly value: string;
}

interface FlagSection {
  readonly controls: readonly FlagControl[];
  /** Number of flags that are set. */
  readonly set: number;
  /** Labels of the set flags. */
  readonly setLabels: string;
  /** Flags without a control; saving keeps them. */
  readonly kept: readonly { readonly name: string; readonly value: string }[];
}

const typed = (value: FlagValue | undefined): string => {
  if (value === undefined) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
};

/**
 * The controls of a protocol's flags.
 * @param flags as stored
 * @param body the submitted form, if any
 */
export function flagSection(protocol: string, flags: Flags, body?: FormBody): FlagSection {
  const own = FLAGS.filter((flag) => flag.of.includes(protocol));
  const controls = own.map((flag) => controlOf(flag, textIn(body, flag.name) ?? typed(flags[flag.name])));
  const names = new Set(own.map(({ name }) => name));
  const set = controls.filter(({ value }) => value !== '');
  return {
    controls,
    set: set.length,
    setLabels: set.map(({ label }) => label).join(', '),
    kept: Object.keys(flags)
      .filter((name) => !names.has(name))
      .map((name) => ({ name, value: typed(flags[name]) })),
  };
}

/** The flags of a form; flags without a control are kept. */
export function flagsFrom(flags: Flags, body: FormBody): Flags {
  const changed = new Map(Object.entries(flags));
  for (const flag of FLAGS) {
    const text = textIn(body, flag.name)?.trim();
    if (text === undefined || text === typed(flags[flag.name])) continue;
    if (text === '') changed.delete(flag.name);
    else changed.set(flag.name, valueOf(flag, text));
  }
  return Object.fromEntries(changed);
}

/** Flags are separate fields of the page. */
export const isFlagField = (name: string): boolean => name.startsWith(PREFIX);

const textIn = (body: FormBody | undefined, name: string): string | undefined => {
  const value = body?.[PREFIX + name];
  return typeof value === 'string' ? value : value?.[0];
};

function valueOf({ form }: FlagLabels, text: string): FlagValue {
  if (text === 'true' || text === 'false') return text === 'true';
  if (form === 'count') return typedCount(text) ?? text;
  return form === 'names' ? text.split(/[\s,]+/).filter((name) => name !== '') : text;
}

function controlOf({ name, label, text, form }: FlagLabels, value: string): FlagControl {
  const control = { id: `flag-${name}`, name: PREFIX + name, label, text, value };
  if (form === 'text' || form === 'count' || form === 'names') return control;
  const choices = form === 'switch' ? ['true', 'false'] : form;
  // Keep an unknown stored value selectable, so that saving does not change it.
  const all = ['', ...choices, ...(value === '' || choices.includes(value) ? [] : [value])];
  return {
    ...control,
    options: all.map((choice) => ({ value: choice, label: LABELS[choice] ?? choice, selected: choice === value })),
  };
}

const LABELS: Readonly<Record<string, string>> = { '': 'Default', true: 'Yes', false: 'No' };
