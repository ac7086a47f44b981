import Handlebars from 'handlebars';
import { randomBytes } from 'node:crypto';
import * as times from '../../../platform/format/index.js';
import {
  compact,
  count,
  exactParts,
  exactUsd,
  type MoneyParts,
  percent,
  price,
  UNKNOWN,
  usd,
} from '../../../platform/format/index.js';
import type { FieldValue, Form } from '../form.js';

const { SafeString, escapeExpression } = Handlebars;
type Html = Handlebars.SafeString;
type Options = Handlebars.HelperOptions;
type Helpers = Record<string, Handlebars.HelperDelegate>;
type Maybe<T> = T | null | undefined;

const html = (text: string): Html => new SafeString(text);
const muted = (text: string): Html => html(`<span class="muted">${text}</span>`);
const withTail = ({ head, tail }: MoneyParts): Html => html(`${head}<span class="tail">${tail}</span>`);
/** Shows a placeholder for unknown values. */
const known = <T>(value: Maybe<T>, show: (value: T) => string | Html): string | Html =>
  value === null || value === undefined ? UNKNOWN : show(value);

const money: Helpers = {
  money: (amount: Maybe<bigint>) =>
    known(amount, (value) => (value === 0n ? muted('not charged') : withTail(exactParts(value)))),
  moneyExact: (amount: Maybe<bigint>) => known(amount, (value) => withTail(exactParts(value))),
  moneyText: (amount: Maybe<bigint>) => known(amount, exactUsd),
  usd: (amount: Maybe<bigint>, { hash }: Options) => known(amount, (value) => usd(value, hash['signed'] === true)),
  price: (amount: Maybe<bigint>) => known(amount, price),
};

const numbers: Helpers = {
  count: (value: Maybe<number | bigint>) => known(value, count),
  compact: (value: Maybe<number | bigint>) => known(value, compact),
  percent: (part: Maybe<number>, whole: Maybe<number>) =>
    known(part, (some) => known(whole, (all) => percent(some, all))),
  ms: (value: Maybe<number>) =>
    value === null || value === undefined ? muted(UNKNOWN) : html(`${count(value)}<span class="tail"> ms</span>`),
  msText: (value: Maybe<number>) => known(value, (some) => `${count(some)} ms`),
  tokens: (prompt: Maybe<number>, completion: Maybe<number>) =>
    // Both zero or both unknown: no tokens were counted.
    (prompt ?? 0) === 0 && (completion ?? 0) === 0
      ? muted('not counted')
      : html(
          `${String(known(prompt, count))} <span class="muted">in</span> ` +
            `${String(known(completion, count))} <span class="muted">out</span>`,
        ),
};

interface TemplateContext {
  readonly timeZone: string;
  readonly now: Date;
}

function templateContext({ data }: Options): TemplateContext {
  const layout = (data as { root?: { layout?: Partial<TemplateContext> } } | undefined)?.root?.layout;
  return { timeZone: layout?.timeZone ?? 'UTC', now: layout?.now ?? new Date() };
}

const precisionOf = ({ hash }: Options, left: times.Precision): times.Precision => {
  const given: unknown = hash['to'];
  return given === 'minutes' || given === 'seconds' || given === 'milliseconds' ? given : left;
};

/** A `<time>` with the exact time in its attributes. */
function timeElement(at: Maybe<Date | string>, options: Options, show: (at: Date, around: TemplateContext) => string) {
  return known(at, (value) => {
    const moment = new Date(value);
    const around = templateContext(options);
    const title = `${times.dateTime(moment, around.timeZone, 'seconds')} ${times.zoneName(moment, around.timeZone)}`;
    return html(
      `<time datetime="${moment.toISOString()}" title="${escapeExpression(title)}">${escapeExpression(show(moment, around))}</time>`,
    );
  });
}

const moments: Helpers = {
  ago: (at: Maybe<Date | string>, options: Options) =>
    timeElement(at, options, (moment, { now, timeZone }) => times.ago(moment, now, timeZone)),
  time: (at: Maybe<Date | string>, options: Options) =>
    timeElement(at, options, (moment, { timeZone }) =>
      times.clockTime(moment, timeZone, precisionOf(options, 'seconds')),
    ),
  date: (at: Maybe<Date | string>, options: Options) =>
    timeElement(at, options, (moment, { timeZone }) => times.calendarDate(moment, timeZone)),
  /** Name of the reader's time zone at that time. */
  zone: (at: Maybe<Date | string>, options: Options) =>
    known(at, (value) => times.zoneName(new Date(value), templateContext(options).timeZone)),
  day: (at: Maybe<Date | string>, options: Options) =>
    timeElement(at, options, (moment, { timeZone }) => times.shortDay(moment, timeZone)),
  /** Beside a `time` of the same moment, which has it in its attributes. */
  dayText: (at: Maybe<Date | string>, options: Options) =>
    known(at, (value) => times.shortDay(new Date(value), templateContext(options).timeZone)),
  dateTime: (at: Maybe<Date | string>, options: Options) =>
    timeElement(at, options, (moment, { timeZone }) =>
      times.dateTime(moment, timeZone, precisionOf(options, 'minutes')),
    ),
};

const logic: Helpers = {
  eq: (one: unknown, other: unknown) => one === other,
  or: (one: unknown, other: unknown) => one || other,
  and: (one: unknown, other: unknown) => one && other,
  not: (one: unknown) => !one,
  concat: (...parts: unknown[]) => parts.slice(0, -1).join(''),
  /** A value of a query. */
  encoded: (text: string) => encodeURIComponent(text),
  /** Plural suffix: `{{count n}} call{{s n}}`. */
  s: (number: Maybe<number | bigint>) => (Number(number) === 1 ? '' : 's'),
};

const forms: Helpers = {
  fieldError,
  fieldValue,
  chosen,
  ticked,
  formErrors,
  newNonce: () => randomBytes(16).toString('base64url'),
};

export const HELPERS: Readonly<Helpers> = { ...money, ...numbers, ...moments, ...logic, ...forms };

type MaybeForm = Form<object> | undefined;

/** Undefined if the form has no errors. @param ids IDs of form controls, where they differ from the field */
function formErrors(form: MaybeForm, ids: Readonly<Record<string, string>> | undefined) {
  const entries = Object.entries(form?.errors ?? {});
  if (entries.length === 0) return undefined;
  return {
    title: entries.length === 1 ? 'Fix 1 field' : `Fix ${entries.length} fields`,
    errors: entries.map(([field, message]) => ({ id: ids?.[field] ?? field, message })),
  };
}

function fieldError(form: MaybeForm, name: string): string | undefined {
  return form !== undefined && Object.hasOwn(form.errors, name) ? form.errors[name] : undefined;
}

function submitted(form: MaybeForm, name: string): FieldValue {
  return form !== undefined && Object.hasOwn(form.values, name) ? form.values[name] : undefined;
}

function fieldValue(form: MaybeForm, name: string): string {
  return [submitted(form, name) ?? []].flat()[0] ?? '';
}

function chosen(form: MaybeForm, name: string, option: unknown, initial: unknown): boolean {
  return [submitted(form, name) ?? String(initial)].flat().includes(String(option));
}

/** Browsers do not send cleared checkboxes, so `initial` applies only to a form without values. */
function ticked(form: MaybeForm, name: string, option: unknown, initial: unknown): boolean {
  const isEmpty = form === undefined || Object.keys(form.values).length === 0;
  return isEmpty ? initial === true : [submitted(form, name) ?? []].flat().includes(String(option));
}
