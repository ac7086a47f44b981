import { type Nanos, parseUsd } from '../../shared/index.js';

// The kinds of settings. A declaration in sections.ts picks one; everything else is derived from it.

/** The control of a setting's form field. */
export type Control = 'text' | 'textarea' | 'number' | 'amount' | 'checkbox' | 'select' | 'secret';

/** A value, or what to enter instead. */
export type Reading<Value> = { readonly value: Value } | { readonly error: string };

/** The environment variable that overrides a setting, and its row in docs/configuration.md. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** The default as documented, if it is not the setting's own. */
  readonly unset?: string;
}

/** What every declaration says. */
interface Facts {
  readonly label: string;
  readonly hint?: string;
  /** Name in the audit log. */
  readonly audit: string;
  readonly variable?: Variable;
}

/** Attributes of the form field. */
interface Attributes {
  /** Mark beside the label; `true` for "optional". */
  readonly optional?: string | true;
  readonly placeholder?: string;
  readonly maxlength?: number;
  readonly rows?: number;
  readonly suffix?: string;
  readonly isMono?: boolean;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

/** A setting: `Value` is stored, `Current` is what services read. */
export interface Setting<Value, Current = Value> extends Facts {
  readonly control: Control;
  readonly attributes: Attributes;
  readonly initial: Value;
  /** Long texts and secrets: the audit log says only that they changed. */
  readonly isUnshown: boolean;
  /** Accepts the stored value, and the text of the form field. */
  read(given: unknown): Reading<Value>;
  readVariable(text: string): Reading<Value>;
  toForm(value: Value): string;
  toAudit(value: Value): string;
  /** Read-only text for a value of the environment. */
  toDisplay(value: Value): string;
  toCurrent(value: Value): Current;
}

/** A secret: stored encrypted, write-only. `Value` is the encrypted text, empty for none. */
export interface SecretSetting extends Setting<string> {
  readonly control: 'secret';
  /** Its form field; the encrypted text is stored under the setting's own key. */
  readonly input: string;
  readonly noun: 'password' | 'secret';
  /** The checkbox that removes the stored secret. */
  readonly removal?: { readonly input: string; readonly label: string; readonly hint: string };
  /** A field whose value is part of the place. */
  readonly boundTo?: string;
  /** Where the ciphertext is valid; undefined if the section has no use for a secret. */
  place(section: Readonly<Record<string, unknown>>): string | undefined;
  /** Error at the field `boundTo` if a secret is entered without a place. */
  readonly misplaced?: string;
  /** Error if no secret is entered for a new place; absent: secrets are optional. */
  readonly missing?: string;
}

const fault = (error: string): { readonly error: string } => ({ error });

/** Trimmed, with LF line endings. */
const trimmed = (text: string): string => text.trim().replaceAll(/\r\n?/g, '\n');

type Basis<Value, Current> = Facts &
  Pick<Setting<Value, Current>, 'control' | 'initial' | 'read' | 'toForm'> & {
    readonly attributes: Attributes;
    readonly toCurrent: (value: Value) => Current;
  } & Partial<Pick<Setting<Value, Current>, 'isUnshown' | 'readVariable' | 'toAudit' | 'toDisplay'>>;

/** Fills in what most kinds have in common. */
const setting = <Value, Current>(basis: Basis<Value, Current>): Setting<Value, Current> => ({
  isUnshown: false,
  readVariable: (text) => basis.read(text),
  toAudit: (value) => basis.toForm(value),
  toDisplay: (value) => basis.toForm(value),
  ...basis,
});

interface TextFacts extends Facts {
  readonly initial?: string;
  readonly max: number;
  readonly accepts?: (text: string) => boolean;
  /** Shown if it is not accepted. */
  readonly error?: string;
  readonly placeholder?: string;
  readonly isMono?: boolean;
  /** Lines of a text area. Its text is too long for the audit log. */
  readonly rows?: number;
}

function textBasis({
  initial = '',
  max,
  accepts = () => true,
  error = '',
  placeholder,
  isMono,
  rows,
  ...facts
}: TextFacts) {
  return {
    ...facts,
    control: rows === undefined ? 'text' : 'textarea',
    attributes: {
      ...(rows === undefined ? { maxlength: max } : { rows }),
      ...(placeholder !== undefined && { placeholder }),
      ...(isMono !== undefined && { isMono }),
    },
    initial,
    isUnshown: rows !== undefined,
    read(given: unknown): Reading<string> {
      if (typeof given !== 'string') return fault('Enter a single value.');
      const text = trimmed(given);
      if ([...text].length > max) return fault(`Enter at most ${max.toLocaleString('en-US')} characters.`);
      return accepts(text) ? { value: text } : fault(error);
    },
    toForm: (value: string) => value,
  } as const;
}

export const text = (facts: TextFacts): Setting<string> =>
  setting({ ...textBasis(facts), toCurrent: (value) => value });

/** Empty: none. */
export function optionalText(facts: TextFacts): Setting<string, string | undefined> {
  const basis = textBasis(facts);
  return setting({
    ...basis,
    attributes: { optional: true, ...basis.attributes },
    toCurrent: (value) => value || undefined,
  });
}

interface FlagFacts extends Facts {
  readonly initial?: boolean;
  /** Values in the audit log. */
  readonly states: { readonly on: string; readonly off: string };
}

/** A checkbox; browsers send `yes`, or nothing if it is cleared. */
export const flag = ({ initial = false, states, ...facts }: FlagFacts): Setting<boolean> => {
  const toAudit = (isOn: boolean): string => (isOn ? states.on : states.off);
  return setting({
    ...facts,
    control: 'checkbox',
    attributes: {},
    initial,
    read(given) {
      const value = given === 'yes' || given || false;
      return typeof value === 'boolean' ? { value } : fault('Select or clear the checkbox.');
    },
    toForm: (isOn) => (isOn ? 'yes' : ''),
    toAudit,
    toDisplay: toAudit,
    toCurrent: (value) => value,
  });
};

interface ChoiceFacts<Value extends string> extends Facts {
  readonly initial: NoInfer<Value>;
  /** Labels by value. */
  readonly labels: Readonly<Record<Value, string>>;
  readonly error: string;
}

export function choice<Value extends string>({ labels, error, ...facts }: ChoiceFacts<Value>): Setting<Value> {
  const values = Object.keys(labels) as Value[];
  const reading = (given: unknown, message: string): Reading<Value> => {
    const value = values.find((one) => one === given);
    return value === undefined ? fault(message) : { value };
  };
  return setting<Value, Value>({
    ...facts,
    control: 'select',
    attributes: { options: values.map((value) => ({ value, label: labels[value] })) },
    read: (given) => reading(given, error),
    readVariable: (given) => reading(given, `Choose one of ${values.join(', ')}.`),
    toForm: (value) => value,
    toDisplay: (value) => labels[value],
    toCurrent: (value) => value,
  });
}

interface WholeFacts extends Facts {
  readonly min: number;
  readonly max: number;
  /** `hours`. */
  readonly unit: string;
}

const isWithin = (value: unknown, { min, max }: WholeFacts): value is number =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

const numeral = (given: unknown): unknown => {
  if (typeof given !== 'string') return given;
  return given.trim() === '' ? null : Number(given.trim());
};

export const whole = (facts: WholeFacts & { readonly initial: number }): Setting<number> =>
  setting({
    ...facts,
    control: 'number',
    attributes: { suffix: facts.unit },
    read(given) {
      const value = numeral(given);
      return isWithin(value, facts) ? { value } : fault(`Enter ${facts.min} to ${facts.max} ${facts.unit}.`);
    },
    toForm: String,
    toDisplay: (value) => `${value} ${facts.unit}`,
    toCurrent: (value) => value,
  });

interface OptionalWholeFacts extends WholeFacts {
  /** What an empty field means: `all`. */
  readonly empty: string;
  readonly error: string;
}

/** Empty: null, for no bound. */
export const optionalWhole = (facts: OptionalWholeFacts): Setting<number | null, number | undefined> =>
  setting<number | null, number | undefined>({
    ...facts,
    control: 'number',
    attributes: { suffix: facts.unit, optional: `empty: ${facts.empty}` },
    initial: null,
    read(given) {
      const value = numeral(given);
      return value === null || isWithin(value, facts) ? { value } : fault(facts.error);
    },
    toForm: (value) => (value === null ? '' : String(value)),
    toAudit: (value) => (value === null ? facts.empty : String(value)),
    toDisplay: (value) => (value === null ? facts.empty : `${value} ${facts.unit}`),
    toCurrent: (value) => value ?? undefined,
  });

interface UsdFacts extends Facts {
  readonly initial: string;
  readonly accepts: (text: string) => boolean;
  readonly error: string;
}

/** US dollars, stored as entered. */
export const usd = ({ accepts, error, ...facts }: UsdFacts): Setting<string, Nanos> =>
  setting({
    ...facts,
    control: 'amount',
    attributes: {},
    read(given) {
      const value = typeof given === 'string' ? given.trim() : '';
      return accepts(value) ? { value } : fault(error);
    },
    toForm: (value) => value,
    toAudit: (value) => `$${value}`,
    toDisplay: (value) => `$${value}`,
    toCurrent: parseUsd,
  });

interface ListFacts<Current> extends Facts {
  readonly initial: readonly string[];
  readonly max: number;
  readonly noun: string;
  readonly accepts: (entry: string) => boolean;
  readonly error: string;
  /** Error for an empty list; absent: it may be empty. */
  readonly missing?: string;
  /** What an empty list means, beside the label. */
  readonly empty?: string;
  readonly placeholder: string;
  readonly isOnePerLine?: boolean;
  /** Before each entry in the audit log. */
  readonly prefix?: string;
  readonly toCurrent: (entries: readonly string[]) => Current;
}

/** Entries separated by commas, blanks or lines; in lower case. */
export function list<Current>(declared: ListFacts<Current>): Setting<readonly string[], Current> {
  const {
    max,
    noun,
    accepts,
    error,
    missing,
    empty,
    placeholder,
    isOnePerLine = false,
    prefix = '',
    ...facts
  } = declared;
  return setting<readonly string[], Current>({
    ...facts,
    control: isOnePerLine ? 'textarea' : 'text',
    attributes: { placeholder, isMono: isOnePerLine, ...(empty !== undefined && { optional: `empty: ${empty}` }) },
    read(given) {
      const entries = entriesIn(given);
      if (entries === undefined) return fault(error);
      if (entries.length === 0 && missing !== undefined) return fault(missing);
      if (entries.length > max) return fault(`Enter at most ${max} ${noun}.`);
      return entries.every(accepts) ? { value: entries } : fault(error);
    },
    toForm: (entries) => entries.join(isOnePerLine ? '\n' : ', '),
    toAudit: (entries) => entries.map((entry) => `${prefix}${entry}`).join(', '),
    toDisplay: (entries) => entries.join(', '),
  });
}

function entriesIn(given: unknown): readonly string[] | undefined {
  if (Array.isArray(given)) return given.every((entry) => typeof entry === 'string') ? given : undefined;
  if (typeof given !== 'string') return undefined;
  return given
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(Boolean);
}

type SecretFacts = Facts &
  Pick<SecretSetting, 'input' | 'noun' | 'place'> &
  Partial<Pick<SecretSetting, 'removal' | 'boundTo' | 'misplaced' | 'missing'>> & {
    readonly accepts?: (text: string) => boolean;
    readonly error?: string;
  };

export function secret({ accepts = () => true, error = '', ...facts }: SecretFacts): SecretSetting {
  // Spaces can be part of a password.
  const clean = (given: string): string => (facts.noun === 'password' ? given : given.trim());
  const basis = setting<string, string>({
    ...facts,
    control: 'secret',
    attributes: {},
    initial: '',
    isUnshown: true,
    read: (given) => (typeof given === 'string' ? { value: given } : fault('Enter a single value.')),
    readVariable: (given) => (accepts(clean(given)) ? { value: clean(given) } : fault(error)),
    toForm: () => '',
    toDisplay: () => 'Hidden',
    toCurrent: (value) => value,
  });
  return { ...facts, ...basis, control: 'secret' };
}
