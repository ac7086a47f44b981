import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { AppError } from '../../platform/shared/index.js';

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
