import { type ClassConstructor, plainToInstance, Transform } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';
import { AppError, nanos, type Nanos, parseUsd } from '../../platform/shared/index.js';

/** What a browser sends of a form: a name that comes several times has a list. */
export type FormBody = Readonly<Record<string, string | readonly string[]>>;

/** Kept out of what is shown again. */
const SECRET = /password|secret/i;

/**
 * A form as it is shown and as it comes back: the values as they were typed, the fault of each field, and, when there is
 * none, what they mean. Secrets are never shown again.
 */
export class Form<T extends object> {
  /** By field, what to enter there. */
  readonly faults: Record<string, string> = {};

  private constructor(
    /** By field, as typed. */
    readonly values: FormBody,
    private readonly parsed: T | undefined,
  ) {}

  /** An empty form with initial values. */
  static empty<T extends object>(values: FormBody = {}): Form<T> {
    return new Form<T>(values, undefined);
  }

  /**
   * What was sent, checked against a class of decorated properties. Fields that it does not know are refused.
   * Fields that begin with an underscore are the page's own (`_csrf`, `_once`) and not looked at.
   */
  static read<T extends object>(type: ClassConstructor<T>, body: FormBody): Form<T> {
    const sent = Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('_')));
    const parsed = plainToInstance(type, sent, { exposeDefaultValues: true });
    const errors = validateSync(parsed, { whitelist: true, forbidNonWhitelisted: true, stopAtFirstError: true });
    const shown = Object.fromEntries(Object.entries(sent).filter(([name]) => !SECRET.test(name)));
    const form = new Form<T>(shown, parsed);
    for (const { property, constraints } of errors)
      form.faults[property] = Object.values(constraints ?? {})[0] ?? 'Enter a different value.';
    return form;
  }

  /** What the fields mean; undefined as long as one of them is refused. */
  get value(): T | undefined {
    return this.refused ? undefined : this.parsed;
  }

  get refused(): boolean {
    return Object.keys(this.faults).length > 0;
  }

  refuse(field: keyof T & string, message: string): void {
    this.faults[field] = message;
  }

  /**
   * Does what the form asks for. Undefined when it was refused, before or by that work: an AppError that names one of
   * the form's fields becomes that field's fault.
   * @throws what the work throws otherwise
   */
  async attempt<R>(work: (value: T) => Promise<R>): Promise<R | undefined> {
    const { value } = this;
    if (value === undefined) return undefined;
    try {
      return await work(value);
    } catch (error) {
      if (!(error instanceof AppError) || error.details.param === undefined || !(error.details.param in value))
        throw error;
      this.faults[error.details.param] = error.message;
      return undefined;
    }
  }
}

/** Digits, or groups of three of them; at most six after the point, which is a ten thousandth of a cent. */
const AMOUNT = /^\$? ?(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(\.\d{0,6})?$/;

/** Dollars as people type them: `25`, `1,000.50`, `$5`. Undefined for anything else, and nothing is rounded. */
export function typedAmount(text: string): Nanos | undefined {
  const [, whole, fraction = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return parseUsd(`${whole.replaceAll(',', '')}${fraction.length > 1 ? fraction : ''}`);
}

/** The same of a field that may be left empty. @throws RangeError for what `IsAmount` does not let pass */
export function amountOf(text: string): Nanos | undefined {
  if (text.trim() === '') return undefined;
  const amount = typedAmount(text);
  if (amount === undefined) throw new RangeError(`“${text}” is not an amount.`);
  return amount;
}

interface AmountRule {
  /** What to enter, told when it was something else. */
  readonly message: string;
  readonly mayBeEmpty?: boolean;
  readonly least?: Nanos;
}

/** A field of dollars, kept as it was typed. */
export const IsAmount = ({ message, mayBeEmpty = false, least = nanos(0n) }: AmountRule): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isAmount',
      validator: {
        validate: (value: unknown) => {
          if (typeof value !== 'string') return false;
          if (value.trim() === '') return mayBeEmpty;
          const amount = typedAmount(value);
          return amount !== undefined && amount >= least;
        },
      },
    },
    { message },
  );

/** Digits, or groups of three of them. */
const COUNT = /^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})$/;

/** Whole numbers as people type them: `60`, `100,000`. Undefined for anything else. */
export const typedCount = (text: string): number | undefined =>
  COUNT.test(text.trim()) ? Number(text.replaceAll(',', '')) : undefined;

/** The same of a field that may be left empty. @throws RangeError for what `IsCount` does not let pass */
export function countOf(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const count = typedCount(text);
  if (count === undefined) throw new RangeError(`“${text}” is not a whole number.`);
  return count;
}

interface CountRule {
  /** What to enter, told when it was something else. */
  readonly message: string;
  readonly least: number;
  readonly most: number;
}

/** A field of a whole number that may be left empty, kept as it was typed. */
export const IsCount = ({ message, least, most }: CountRule): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isCount',
      validator: {
        validate: (value: unknown) => {
          if (typeof value !== 'string') return false;
          if (value.trim() === '') return true;
          const count = typedCount(value);
          return count !== undefined && count >= least && count <= most;
        },
      },
    },
    { message },
  );

/** A field of a form without the blanks around what was typed. What is no text is left to the field's own rules. */
export const Trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));
