import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import { parseTime } from '../../../platform/shared/index.js';

/** Returns what is wrong with a value, to follow the field's name in a sentence; undefined if valid. */
export type Check = (value: unknown) => string | undefined;

/** Converts a value before validation. `written` is the value as parsed from the file. */
type Conversion = (value: unknown, written: unknown) => unknown;

/** A required field with a check. */
export function Field(name: string, check: Check, convert: Conversion = textOf): PropertyDecorator {
  const faultOf: Check = (value) => (value === undefined || value === null ? 'is missing' : check(value));
  return applyDecorators(
    Transform(({ value, obj, key }) => convert(value, (obj as Readonly<Record<string, unknown>>)[key])),
    ValidateBy({
      name,
      validator: {
        validate: (value: unknown) => faultOf(value) === undefined,
        defaultMessage: (args) => faultOf(args?.value) ?? '',
      },
    }),
  );
}

/** May be left out. */
export const Optional = (): PropertyDecorator => IsOptional();

/** Skips validation for exactly this word. */
export const ValidateUnless = (word: string): PropertyDecorator => ValidateIf((_, value: unknown) => value !== word);

/** Fraction digits of a multiplier. */
export const MULTIPLIER_DIGITS = 6;

const NAME = /^[^\s,\p{Cc}]{1,200}$/u;
const LABEL = /^(?! )[^\p{Cc}]{1,200}(?<! )$/u;
const TEXT = /^[^\p{Cc}]{0,2000}$/u;

export const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/** Names used by calls and keys: no spaces or commas, so that they fit into lists. */
export const Name = (): PropertyDecorator =>
  Field('isName', (value) => (isName(value) ? undefined : 'must be a name without spaces or commas'));

/** Names for display. */
export const Label = (): PropertyDecorator =>
  Field('isLabel', (value) =>
    typeof value === 'string' && LABEL.test(value)
      ? undefined
      : 'must be a single line of 1 to 200 characters without leading or trailing spaces',
  );

export const Text = (): PropertyDecorator =>
  Field('isText', (value) =>
    typeof value === 'string' && TEXT.test(value) ? undefined : 'must be a single line of at most 2000 characters',
  );

export const TrueOrFalse = (): PropertyDecorator =>
  Field('isTrueOrFalse', (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'));

export const OneOf = (words: readonly string[]): PropertyDecorator =>
  Field('isOneOf', (value) => (words.includes(String(value)) ? undefined : `must be ${words.join(' or ')}`));

export const Names = (): PropertyDecorator =>
  Field(
    'areNames',
    (value) =>
      Array.isArray(value) && value.length > 0 && value.every(isName)
        ? undefined
        : 'must be a list of names without spaces or commas',
    (value) => (Array.isArray(value) ? value.map(textOf) : value),
  );

/** A non-negative decimal, kept as text. */
export function Decimal(fractionDigits: number, wholeDigits = 9): PropertyDecorator {
  const form = new RegExp(`^\\d{1,${wholeDigits}}(\\.\\d{1,${fractionDigits}})?$`);
  return Field('isDecimal', (value) =>
    typeof value === 'string' && form.test(value)
      ? undefined
      : `must be a plain decimal of 0 or more with at most ${fractionDigits} decimal places, without an exponent`,
  );
}

/** Decimals by name; `plural` names the keys in messages. @param required required keys */
export function DecimalsByName(
  plural: string,
  isOne: (name: string) => boolean,
  fractionDigits: number,
  wholeDigits = 9,
  required: readonly string[] = [],
): PropertyDecorator {
  const form = new RegExp(`^\\d{1,${wholeDigits}}(\\.\\d{1,${fractionDigits}})?$`);
  return Field(
    'areDecimals',
    (value) => {
      if (!isMapping(value)) return `must be a mapping from ${plural} to decimals`;
      const odd = Object.entries(value).find(([name, decimal]) => !isOne(name) || !form.test(String(decimal)));
      const missing = required.find((name) => !Object.hasOwn(value, name));
      if (odd === undefined && missing !== undefined)
        return `must set ${required.join(' and ')}; ${missing} is missing`;
      return odd && `must map ${plural} to decimals with at most ${fractionDigits} decimal places; ${odd[0]} does not`;
    },
    (value) =>
      isMapping(value)
        ? Object.fromEntries(Object.entries(value).map(([name, decimal]) => [name, textOf(decimal)]))
        : value,
  );
}

/** Integers by name; `plural` names the keys in messages. */
export function IntegersByName(
  plural: string,
  isOne: (name: string) => boolean,
  min: number,
  max: number,
): PropertyDecorator {
  return Field(
    'areWholes',
    (value) => {
      if (!isMapping(value)) return `must be a mapping from ${plural} to integers`;
      const odd = Object.entries(value).find(
        ([name, whole]) => !isOne(name) || typeof whole !== 'number' || whole < min || whole > max,
      );
      return odd && `must map ${plural} to integers from ${min} to ${max}; ${odd[0]} does not`;
    },
    (value) =>
      isMapping(value)
        ? Object.fromEntries(Object.entries(value).map(([name, whole]) => [name, wholeOf(whole)]))
        : textOf(value),
  );
}

const wholeOf = (value: unknown): unknown =>
  value instanceof Numeral && /^\d{1,15}$/.test(value.source) ? Number(value.source) : value;

/** A time, converted to a `Date`. */
export const Moment = (): PropertyDecorator =>
  Field(
    'isTime',
    (value) => (value instanceof Date ? undefined : 'must be an ISO time such as 2026-12-31 or 2026-12-31T23:59:59Z'),
    (_, written) => (typeof written === 'string' ? parseTime(written) : undefined) ?? textOf(written),
  );

/** An integer, converted to a `number`. */
export const Whole = (min: number, max: number): PropertyDecorator =>
  Field(
    'isWhole',
    (value) =>
      typeof value === 'number' && value >= min && value <= max
        ? undefined
        : `must be an integer from ${min} to ${max}`,
    wholeOf,
  );

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Numeral);

/** A list of mappings, whose content is validated by their own class. */
export const Mappings = (also: Check = () => undefined): PropertyDecorator =>
  Field(
    'areMappings',
    (value) => {
      if (!Array.isArray(value)) return 'must be a list';
      const odd = value.findIndex((entry) => !isMapping(entry));
      return odd < 0 ? also(value) : `must be a list of mappings; entry ${odd + 1} is not`;
    },
    // The check must see the number that was converted to an entry.
    (value, written) =>
      Array.isArray(value) && Array.isArray(written)
        ? value.map((entry: unknown, index) => (isMapping(written[index]) ? entry : textOf(written[index])))
        : textOf(written),
  );

export const Mapping = (): PropertyDecorator =>
  Field(
    'isMapping',
    (value) => (isMapping(value) ? undefined : 'must be a mapping'),
    (value, written) => (isMapping(written) ? value : textOf(written)),
  );

/** A number in a file, as text: a JavaScript number would not preserve a decimal. */
export class Numeral {
  constructor(readonly source: string) {}
}

/** Text as written: a name or version that looks like a number stays unchanged. */
export const textOf = (value: unknown): unknown => (value instanceof Numeral ? value.source : value);
