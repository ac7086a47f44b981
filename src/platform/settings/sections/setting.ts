import { type Nanos, parseUsd } from '../../shared/index.js';

// The kinds of settings. A declaration in sections.ts picks one; everything else is derived from it.

/** The control of a setting's form field. */
export type Control = 'text' | 'textarea' | 'number' | 'amount' | 'checkbox' | 'select' | 'secret';

/** A value, or what to enter instead. */
export type SettingResult<Value> = { readonly value: Value } | { readonly error: string };

/** Members of every declaration. */
interface SettingDeclaration {
  readonly label: string;
  readonly hint?: string;
  /** Name in the audit log. */
  readonly audit: string;
  /** The environment variable that overrides the setting, and its row in docs/configuration.md. */
  readonly variable?: {
    readonly name: string;
    readonly meaning: string;
    /** The default as documented, if it is not the setting's own. */
    readonly unset?: string;
  };
}

/** Attributes of the form field. */
interface Attributes {
  /** Mark beside the label. */
  readonly optional?: string;
  readonly placeholder?: string | undefined;
  readonly maxlength?: number;
  readonly rows?: number;
  readonly suffix?: string;
  readonly isMono?: boolean | undefined;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

/** A setting: `Value` is stored, `Current` is what services read. */
export interface Setting<Value, Current = Value> extends SettingDeclaration {
  readonly control: Control;
  readonly attributes: Attributes;
  readonly initial: Value;
  /** Long texts and secrets: the audit log says only that they changed. */
  readonly isHidden: boolean;
  /** Accepts the stored value, and the text of the form field. */
  read(given: unknown): SettingResult<Value>;
  readVariable(text: string): SettingResult<Value>;
  toForm(value: Value): string;
  toAudit(value: Value): string;
  /** Read-only text for a value of the environment. */
  toDisplay(value: Value): string;
  toCurrent(value: Value): Current;
}

const error = (message: string): { readonly error: string } => ({ error: message });

type Basis<Value, Current> = SettingDeclaration &
  Pick<Setting<Value, Current>, 'control' | 'initial' | 'read' | 'toForm' | 'toCurrent'> &
  Partial<Setting<Value, Current>>;

/** Fills in what most kinds have in common. */
const setting = <Value, Current>(basis: Basis<Value, Current>): Setting<Value, Current> => ({
  attributes: {},
  isHidden: false,
  readVariable: (text) => basis.read(text),
  toAudit: (value) => basis.toForm(value),
  toDisplay: (value) => basis.toForm(value),
  ...basis,
});

const same = <Value>(value: Value): Value => value;

interface TextFacts extends SettingDeclaration {
  readonly initial?: string;
  readonly max: number;
  /** Its pattern; the description is shown as an error. */
  readonly accepts?: readonly [(text: string) => boolean, string];
  readonly placeholder?: string;
  readonly isMono?: boolean;
  /** Lines of a text area. Its text is too long for the audit log. */
  readonly rows?: number;
}

export const text = ({ initial = '', max, accepts, placeholder, isMono, rows, ...facts }: TextFacts): Setting<string> =>
  setting({
    ...facts,
    control: rows === undefined ? 'text' : 'textarea',
    attributes: { placeholder, isMono, ...(rows === undefined ? { maxlength: max } : { rows }) },
    initial,
    isHidden: rows !== undefined,
    read(given) {
      if (typeof given !== 'string') return error('Enter a single value.');
      const value = given.trim().replaceAll(/\r\n?/g, '\n');
      if ([...value].length > max) return error(`Enter at most ${max.toLocaleString('en-US')} characters.`);
      return accepts === undefined || accepts[0](value) ? { value } : error(accepts[1]);
    },
    toForm: same,
    toCurrent: same<string>,
  });

/** Empty: none. */
export function optionalText(facts: TextFacts): Setting<string, string | undefined> {
  const base = text(facts);
  return {
    ...base,
    attributes: { ...base.attributes, optional: 'optional' },
    toCurrent: (value) => value || undefined,
  };
}

interface FlagFacts extends SettingDeclaration {
  readonly initial?: boolean;
  /** Values in the audit log. */
  readonly on: string;
  readonly off: string;
}

/** A checkbox; browsers send `yes`, or nothing if it is cleared. */
export const flag = ({ initial = false, on, off, ...facts }: FlagFacts): Setting<boolean> =>
  setting({
    ...facts,
    control: 'checkbox',
    initial,
    read(given) {
      const value = given === 'yes' || given || false;
      return typeof value === 'boolean' ? { value } : error('Select or clear the checkbox.');
    },
    toForm: (value) => (value ? 'yes' : ''),
    toAudit: (value) => (value ? on : off),
    toDisplay: (value) => (value ? on : off),
    toCurrent: same<boolean>,
  });

interface ChoiceFacts<Value extends string> extends SettingDeclaration {
  readonly initial: NoInfer<Value>;
  /** By value. */
  readonly labels: Readonly<Record<Value, string>>;
  readonly missing: string;
}

export function choice<Value extends string>({ labels, missing, ...facts }: ChoiceFacts<Value>): Setting<Value> {
  const values = Object.keys(labels) as Value[];
  const reading = (given: unknown, message: string): SettingResult<Value> => {
    const value = values.find((one) => one === given);
    return value === undefined ? error(message) : { value };
  };
  return setting<Value, Value>({
    ...facts,
    control: 'select',
    attributes: { options: values.map((value) => ({ value, label: labels[value] })) },
    read: (given) => reading(given, missing),
    readVariable: (given) => reading(given, `Choose one of ${values.join(', ')}.`),
    toForm: same,
    toDisplay: (value) => labels[value],
    toCurrent: same,
  });
}

interface WholeFacts extends SettingDeclaration {
  readonly min: number;
  readonly max: number;
  /** `hours`. */
  readonly unit: string;
}

/** An integer or its digits; null if empty, undefined if it is none within the bounds. */
function integerIn(given: unknown, { min, max }: WholeFacts): number | null | undefined {
  const value = typeof given === 'string' ? (given.trim() === '' ? null : Number(given.trim())) : given;
  return value === null || (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
    ? value
    : undefined;
}

export const whole = (facts: WholeFacts & { readonly initial: number }): Setting<number> =>
  setting({
    ...facts,
    control: 'number',
    attributes: { suffix: facts.unit },
    read: (given) => {
      const value = integerIn(given, facts) ?? undefined;
      return value === undefined ? error(`Enter ${facts.min} to ${facts.max} ${facts.unit}.`) : { value };
    },
    toForm: String,
    toDisplay: (value) => `${value} ${facts.unit}`,
    toCurrent: same<number>,
  });

/** Empty: null, for no bound. @param facts `empty`: what that means, in one word and in the error */
export const optionalWhole = (
  facts: WholeFacts & { readonly empty: readonly [string, string] },
): Setting<number | null, number | undefined> =>
  setting({
    ...facts,
    control: 'number',
    attributes: { suffix: facts.unit, optional: `empty: ${facts.empty[0]}` },
    initial: null,
    read: (given) => {
      const value = integerIn(given, facts);
      const message = `Enter ${facts.min} to ${facts.max} ${facts.unit}, or leave empty to ${facts.empty[1]}.`;
      return value === undefined ? error(message) : { value };
    },
    toForm: (value) => String(value ?? ''),
    toAudit: (value) => String(value ?? facts.empty[0]),
    toDisplay: (value) => `${value ?? facts.empty[0]} ${facts.unit}`,
    toCurrent: (value) => value ?? undefined,
  });

interface UsdFacts extends SettingDeclaration {
  readonly initial: string;
  readonly accepts: readonly [(text: string) => boolean, string];
}

/** US dollars, stored as entered. */
export const usd = ({ accepts: [accepts, message], ...facts }: UsdFacts): Setting<string, Nanos> =>
  setting({
    ...facts,
    control: 'amount',
    read(given) {
      const value = typeof given === 'string' ? given.trim() : '';
      return accepts(value) ? { value } : error(message);
    },
    toForm: same,
    toAudit: (value) => `$${value}`,
    toDisplay: (value) => `$${value}`,
    toCurrent: parseUsd,
  });

interface ListFacts<Current> extends SettingDeclaration {
  readonly initial: readonly string[];
  readonly max: readonly [number, string];
  /** The pattern of each entry; the description is shown as an error. */
  readonly accepts: readonly [(entry: string) => boolean, string];
  /** The meaning of an empty list; or the error, if it must not be empty. */
  readonly empty: { readonly means: string } | { readonly error: string };
  readonly placeholder: string;
  readonly isOnePerLine?: boolean;
  /** Before each entry in the audit log. */
  readonly prefix?: string;
  readonly toCurrent: (entries: readonly string[]) => Current;
}

/** Entries separated by commas, blanks or lines; in lower case. */
export const list = <Current>({
  max: [max, noun],
  accepts: [accepts, message],
  empty,
  placeholder,
  isOnePerLine = false,
  prefix = '',
  ...facts
}: ListFacts<Current>): Setting<readonly string[], Current> =>
  setting({
    ...facts,
    control: isOnePerLine ? 'textarea' : 'text',
    attributes: { placeholder, isMono: isOnePerLine, ...('means' in empty && { optional: `empty: ${empty.means}` }) },
    read(given) {
      const entries: unknown =
        typeof given === 'string'
          ? given
              .toLowerCase()
              .split(/[\s,;]+/)
              .filter(Boolean)
          : given;
      if (!isTexts(entries)) return error(message);
      if (entries.length === 0 && 'error' in empty) return empty;
      if (entries.length > max) return error(`Enter at most ${max} ${noun}.`);
      return entries.every(accepts) ? { value: entries } : error(message);
    },
    toForm: (entries) => entries.join(isOnePerLine ? '\n' : ', '),
    toAudit: (entries) => entries.map((entry) => `${prefix}${entry}`).join(', '),
    toDisplay: (entries) => entries.join(', '),
  });

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');

interface SecretFacts extends SettingDeclaration {
  /** Its form field; the encrypted text is stored under the setting's own key. */
  readonly input: string;
  readonly noun: 'password' | 'secret';
  readonly accepts?: readonly [(text: string) => boolean, string];
  /** The checkbox that removes the stored secret. */
  readonly removal?: { readonly input: string; readonly label: string; readonly hint: string };
  /** Where the encrypted text is valid; undefined if the section has no use for a secret. */
  readonly place: (section: Readonly<Record<string, unknown>>) => string | undefined;
  /** A field whose value is part of the place, and the errors of a secret without a place and a place without one. */
  readonly boundTo?: { readonly input: string; readonly misplaced: string; readonly missing: string };
}

/** A secret: stored encrypted, write-only. Its stored value is empty for none. */
export interface SecretSetting extends Setting<string>, Omit<SecretFacts, 'accepts'> {
  readonly control: 'secret';
}

export const isSecret = (one: Setting<unknown, unknown>): one is SecretSetting => one.control === 'secret';

export function secret({ accepts, ...facts }: SecretFacts): SecretSetting {
  const basis = setting<string, string>({
    ...facts,
    control: 'secret',
    initial: '',
    isHidden: true,
    read: (given) => (typeof given === 'string' ? { value: given } : error('Enter a single value.')),
    readVariable(given) {
      // Spaces can be part of a password.
      const value = facts.noun === 'password' ? given : given.trim();
      return accepts === undefined || accepts[0](value) ? { value } : error(accepts[1]);
    },
    toForm: () => '',
    toDisplay: () => 'Hidden',
    toCurrent: same,
  });
  return { ...facts, ...basis, control: 'secret' };
}
