import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import { parseTime } from '../../../platform/shared/index.js';

/** Says what is wrong with a value, as the end of a sentence that begins with the field's name; undefined when nothing. */
export type Check = (value: unknown) => string | undefined;

/** What becomes of a value before it is checked. `written` is what stood in the file, not yet made an entry of ours. */
type Conversion = (value: unknown, written: unknown) => unknown;

/** A field that must be there and pass the check. */
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

/** Is not looked at when it is exactly this word. */
export const UnlessItSays = (word: string): PropertyDecorator => ValidateIf((_, value: unknown) => value !== word);

/** Behind the point of a multiplier. */
export const MULTIPLIER_DIGITS = 6;

const NAME = /^[^\s,\p{Cc}]{1,200}$/u;
const LABEL = /^(?! )[^\p{Cc}]{1,200}(?<! )$/u;
const TEXT = /^[^\p{Cc}]{0,2000}$/u;

export const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/** What calls and keys name: no blanks and no commas, so that it can stand in a list. */
export const Name = (): PropertyDecorator =>
  Field('isName', (value) => (isName(value) ? undefined : 'must be a name without spaces or commas'));

/** What only people name. */
export const Label = (): PropertyDecorator =>
  Field('isLabel', (value) => (typeof value === 'string' && LABEL.test(value) ? undefined : 'must be a short string'));

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

/** A plain decimal of at least 0, kept as its text: nothing is rounded. */
export function Decimal(fractionDigits: number, wholeDigits = 9): PropertyDecorator {
  const form = new RegExp(`^\\d{1,${wholeDigits}}(\\.\\d{1,${fractionDigits}})?$`);
  return Field('isDecimal', (value) =>
    typeof value === 'string' && form.test(value)
      ? undefined
      : `must be a plain decimal of 0 or more with at most ${fractionDigits} decimal places, without an exponent`,
  );
}

/** Decimals as above by names of a certain kind, which `plural` calls them. @param required names that must be there */
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
        return `must say ${required.join(' and ')}; ${missing} is missing`;
      return odd && `must map ${plural} to decimals with at most ${fractionDigits} decimal places; ${odd[0]} does not`;
    },
    (value) =>
      isMapping(value)
        ? Object.fromEntries(Object.entries(value).map(([name, decimal]) => [name, textOf(decimal)]))
        : value,
  );
}

/** Whole numbers by names of a certain kind, which `plural` calls them. */
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

/** A time, made a `Date`. */
export const Moment = (): PropertyDecorator =>
  Field(
    'isTime',
    (value) => (value instanceof Date ? undefined : 'must be an ISO time such as 2026-12-31 or 2026-12-31T23:59:59Z'),
    (_, written) => (typeof written === 'string' ? parseTime(written) : undefined) ?? textOf(written),
  );

/** A whole number, made a `number`. */
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

/** A list whose entries are mappings; their content is checked as what they are. */
export const Mappings = (also: Check = () => undefined): PropertyDecorator =>
  Field(
    'areMappings',
    (value) => {
      if (!Array.isArray(value)) return 'must be a list';
      const odd = value.findIndex((entry) => !isMapping(entry));
      return odd < 0 ? also(value) : `must be a list of mappings; entry ${odd + 1} is not`;
    },
    // A number in the place of an entry has been made an entry by now: the check must see the number.
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

/** A number as it stands in a file: its text, because a JavaScript number would not keep a decimal exactly. */
export class Numeral {
  constructor(readonly source: string) {}
}

/** Text as it was meant: a name or a version that looks like a number is taken as it is written. */
export const textOf = (value: unknown): unknown => (value instanceof Numeral ? value.source : value);
