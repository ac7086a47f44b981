import { type ClassConstructor, plainToInstance, Transform } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';
import { AppError, nanos, type Nanos, parseUsd } from '../../platform/shared/index.js';

/** Submitted fields by name; repeated fields have a list. */
export type FormBody = Readonly<Record<string, string | readonly string[]>>;

export type FieldValue = FormBody[string] | undefined;

/** Fields that are not shown again. */
const SECRET = /password|secret/i;

/** A form with its values as typed, an error per field, and the parsed values if there is none. */
export class Form<T extends object> {
  /** Messages by field. */
  readonly errors: Record<string, string> = {};

  private constructor(
    /** By field, as typed. */
    readonly values: FormBody,
    private readonly parsed: T | undefined,
  ) {}

  static empty<T extends object>(values: FormBody = {}): Form<T> {
    return new Form<T>(values, undefined);
  }

  /**
   * Validates submitted fields against a class of decorated properties; unknown fields are rejected. Fields with a
   * leading underscore belong to the page (`_csrf`, `_once`) and are ignored.
   */
  static read<T extends object>(type: ClassConstructor<T>, body: FormBody): Form<T> {
    const sent = Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('_')));
    const parsed = plainToInstance(type, sent, { exposeDefaultValues: true });
    const invalid = validateSync(parsed, { whitelist: true, forbidNonWhitelisted: true, stopAtFirstError: true });
    const shown = Object.fromEntries(Object.entries(sent).filter(([name]) => !SECRET.test(name)));
    const form = new Form<T>(shown, parsed);
    for (const { property, constraints } of invalid)
      form.errors[property] = Object.values(constraints ?? {})[0] ?? 'Enter a different value.';
    return form;
  }

  /** Undefined if a field has an error. */
  get value(): T | undefined {
    return this.refused ? undefined : this.parsed;
  }

  get refused(): boolean {
    return Object.keys(this.errors).length > 0;
  }

  refuse(field: keyof T & string, message: string): void {
    this.errors[field] = message;
  }

  /**
   * Runs the work if the form is valid. An AppError of the work that names a field becomes that field's error; others
   * are thrown.
   * @returns undefined if the form has errors
   */
  async attempt<R>(work: (value: T) => Promise<R>): Promise<R | undefined> {
    const { value } = this;
    if (value === undefined) return undefined;
    try {
      return await work(value);
    } catch (error) {
      if (!(error instanceof AppError) || error.details.param === undefined || !(error.details.param in value))
        throw error;
      this.errors[error.details.param] = error.message;
      return undefined;
    }
  }

  /** Like `attempt`, for work without a result. @returns false if the form has errors */
  async succeeds(work: (value: T) => Promise<unknown>): Promise<boolean> {
    const done = await this.attempt(async (value) => {
      await work(value);
      return true;
    });
    return done ?? false;
  }
}

/** Digits, optionally in groups of three, and up to six decimals. */
const AMOUNT = /^\$? ?(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(\.\d{0,6})?$/;

/** Parses `25`, `1,000.50` or `$5` without rounding; undefined if invalid. */
export function typedAmount(text: string): Nanos | undefined {
  const [, whole, fraction = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return parseUsd(`${whole.replaceAll(',', '')}${fraction.length > 1 ? fraction : ''}`);
}

/** Undefined if empty. @throws RangeError for text that `IsAmount` rejects */
export function amountOf(text: string): Nanos | undefined {
  if (text.trim() === '') return undefined;
  const amount = typedAmount(text);
  if (amount === undefined) throw new RangeError(`“${text}” is not an amount.`);
  return amount;
}

interface AmountRule {
  /** The error message: what to enter. */
  readonly message: string;
  readonly mayBeEmpty?: boolean;
  readonly min?: Nanos;
}

/** A dollar amount, kept as typed. */
export const IsAmount = ({ message, mayBeEmpty = false, min = nanos(0n) }: AmountRule): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isAmount',
      validator: {
        validate: (value: unknown) => {
          if (typeof value !== 'string') return false;
          if (value.trim() === '') return mayBeEmpty;
          const amount = typedAmount(value);
          return amount !== undefined && amount >= min;
        },
      },
    },
    { message },
  );

/** Digits, optionally in groups of three. */
const COUNT = /^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})$/;

/** Parses `60` or `100,000`; undefined if invalid. */
export const typedCount = (text: string): number | undefined =>
  COUNT.test(text.trim()) ? Number(text.replaceAll(',', '')) : undefined;

/** Undefined if empty. @throws RangeError for text that `IsCount` rejects */
export function countOf(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const count = typedCount(text);
  if (count === undefined) throw new RangeError(`“${text}” is not a whole number.`);
  return count;
}

interface CountRule {
  /** The error message: what to enter. */
  readonly message: string;
  readonly min: number;
  readonly max: number;
}

/** An optional integer, kept as typed. */
export const IsCount = ({ message, min, max }: CountRule): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isCount',
      validator: {
        validate: (value: unknown) => {
          if (typeof value !== 'string') return false;
          if (value.trim() === '') return true;
          const count = typedCount(value);
          return count !== undefined && count >= min && count <= max;
        },
      },
    },
    { message },
  );

/** Trims text; other values are left to the field's validators. */
export const Trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));

/** The values of selected checkboxes of one name: browsers send none, one or several. */
export const CheckboxList = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value : [value ?? []].flat()));

/** A field with conflicting values. */
export interface Difference {
  readonly label: string;
  readonly now: string;
  readonly yours: string;
  /** Shown instead of the values, which are secret. */
  readonly note?: string;
}

/**
 * Fields whose stored and submitted values differ.
 * @param labels by name, of the fields to compare
 * @param textOf display text; equal for equivalent values, empty for none
 */
export const differencesBetween = (
  labels: Readonly<Record<string, string>>,
  now: FormBody,
  typed: FormBody,
  textOf: (value: FieldValue) => string,
): readonly Difference[] =>
  Object.entries(labels)
    .map(([name, label]) => ({ label, now: textOf(now[name]) || NOTHING, yours: textOf(typed[name]) || NOTHING }))
    .filter((field) => field.now !== field.yours);

const NOTHING = '–';
