import { IsIn, IsString, Matches, ValidateBy } from 'class-validator';
import type { Visitor } from '../../auth/index.js';
import { groupOfViewer } from '../../catalog/index.js';
import { KEY_NAME, type KeySettings, networksOf, type OwnKey } from '../../keys/index.js';
import { LARGEST_LIMIT, limitsIn } from '../../platform/limits/index.js';
import {
  addDays,
  AppError,
  dayOf,
  formatUsd,
  isDay,
  type Nanos,
  nanos,
  startOfDay,
} from '../../platform/shared/index.js';
import { amountOf, CheckboxList, countOf, type Form, type FormBody, IsAmount, IsCount } from '../web/index.js';

const NO_LIMIT = 'Enter an amount in dollars, such as 25 or 1,000.50, or leave empty for no limit.';
const CENT = nanos(10_000_000n);

const Limit = (): PropertyDecorator => IsAmount({ message: NO_LIMIT, mayBeEmpty: true });

const Rate = (): PropertyDecorator =>
  IsCount({
    message: 'Enter an integer of at least 1, or leave empty for the default.',
    min: 1,
    max: LARGEST_LIMIT,
  });

const CHECKED = 'yes';

const Checkbox = (): PropertyDecorator => IsIn([CHECKED, ''], { message: 'Select or clear the checkbox.' });

/** Settings of a key as typed. All fields are always present. */
export class KeyForm {
  @Matches(KEY_NAME, {
    message: 'Enter a name of 1 to 100 characters, such as the tool that will use the key.',
  })
  readonly name: string = '';

  @IsString({ message: 'Choose a group.' })
  readonly group: string = '';

  @Limit()
  readonly quota: string = '';

  @Limit()
  readonly daily: string = '';

  @Limit()
  readonly weekly: string = '';

  @Limit()
  readonly monthly: string = '';

  @Rate()
  readonly callsPerMinute: string = '';

  @Rate()
  readonly tokensPerMinute: string = '';

  @Rate()
  readonly concurrency: string = '';

  @ValidateBy(
    {
      name: 'isDayOrNothing',
      validator: { validate: (value) => value === '' || (typeof value === 'string' && isDay(value)) },
    },
    { message: 'Enter a date, or leave empty for no expiry.' },
  )
  readonly expires: string = '';

  /** One per line; empty: anywhere. */
  @ValidateBy({
    name: 'areNetworks',
    validator: {
      validate: (value) => networksError(value) === undefined,
      defaultMessage: (of) => networksError(of?.value) ?? '',
    },
  })
  readonly networks: string = '';

  /** Empty: all. */
  @CheckboxList()
  @IsString({ each: true, message: 'Select models from the list.' })
  readonly models: readonly string[] = [];

  @Checkbox()
  readonly strict: string = '';

  @Checkbox()
  readonly neverStores: string = '';
}

/** Holders of a key that an admin of an organization creates. */
export const HOLDERS = ['own', 'service'] as const;

export class NewKeyForm extends KeyForm {
  @IsIn(HOLDERS, { message: 'Choose who the key belongs to.' })
  readonly holder: (typeof HOLDERS)[number] = 'own';

  /** Of a service key; empty: none. */
  @IsString({ message: 'Choose a team from the list.' })
  readonly team: string = '';
}

export class KeyChangeForm extends KeyForm {
  /** The key version that the form was filled from. */
  @Matches(/^\d{1,9}$/, { message: 'This form is incomplete. Reload the page and try again.' })
  readonly version: string = '';
}

/** The fields that are folded on the page of a key without restrictions. */
const RESTRICTIONS = [
  'daily',
  'weekly',
  'monthly',
  'callsPerMinute',
  'tokensPerMinute',
  'concurrency',
  'expires',
  'models',
  'networks',
  'strict',
  'neverStores',
] satisfies readonly (keyof KeyForm)[];

/** Whether one of them has a value or an error. */
export const isRestricted = ({ values, errors }: Form<KeyForm>): boolean =>
  RESTRICTIONS.some((name) => [values[name] ?? []].flat().join('') !== '' || errors[name] !== undefined);

export class RaiseForm {
  @IsAmount({ message: 'Enter an amount of at least 0.01 dollars.', min: CENT })
  readonly quota: string = '';
}

export class NameForm {
  @Matches(KEY_NAME, { message: 'Enter a name of 1 to 100 characters for the new key.' })
  readonly name: string = '';
}

export class DeleteKeyForm {
  @IsString()
  readonly confirm: string = '';
}

export const valuesOf = (key: OwnKey, timeZone: string): FormBody => ({
  name: key.name,
  group: key.group,
  quota: amount(key.quota),
  daily: amount(key.budgets.daily?.limit),
  weekly: amount(key.budgets.weekly?.limit),
  monthly: amount(key.budgets.monthly?.limit),
  callsPerMinute: String(key.limits.requestsPerMinute ?? ''),
  tokensPerMinute: String(key.limits.tokensPerMinute ?? ''),
  concurrency: String(key.limits.concurrency ?? ''),
  networks: (key.networks ?? []).join('\n'),
  expires: key.expiresAt === undefined ? '' : lastDay(key.expiresAt, timeZone),
  models: key.models ?? [],
  strict: key.strict ? CHECKED : '',
  neverStores: key.neverStores ? CHECKED : '',
  version: String(key.version),
});

/** @param before the key to change; undefined for a new key @throws ExpiryPassed */
export function settingsOf(form: KeyForm, visitor: Visitor, today: string, before: OwnKey | undefined): KeySettings {
  return {
    name: form.name,
    groupName: groupNameOf(form.group, visitor, before),
    models: form.models.length === 0 ? undefined : form.models,
    expiresAt: expiryOf(form.expires, visitor.timeZone, today, before?.expiresAt),
    quota: amountOf(form.quota),
    budgets: { daily: amountOf(form.daily), weekly: amountOf(form.weekly), monthly: amountOf(form.monthly) },
    limits: limitsIn({
      requestsPerMinute: countOf(form.callsPerMinute) ?? null,
      tokensPerMinute: countOf(form.tokensPerMinute) ?? null,
      concurrency: countOf(form.concurrency) ?? null,
    }),
    networks: typedNetworks(form.networks),
    strict: form.strict === CHECKED,
    neverStores: form.neverStores === CHECKED,
  };
}

/** Undefined for the account's own group, so that the key moves with the account; a key that names it keeps doing so. */
function groupNameOf(group: string, visitor: Visitor, before: OwnKey | undefined): string | undefined {
  if (before !== undefined && before.group === group) return before.groupName;
  return group === groupOfViewer(visitor) ? undefined : group;
}

/** End of the day. A time of day that was set elsewhere is kept while the day is unchanged. */
function expiryOf(day: string, timeZone: string, today: string, before: Date | undefined): Date | undefined {
  if (day === '') return undefined;
  if (before !== undefined && lastDay(before, timeZone) === day) return before;
  if (day < today) throw new ExpiryPassed();
  return startOfDay(addDays(day, 1), timeZone);
}

/** The last valid day: a key that expires at midnight is valid until the day before. */
export const lastDay = (expiresAt: Date, timeZone: string): string =>
  dayOf(new Date(expiresAt.getTime() - 1), timeZone);

/** As it can be typed: `1000`, `0.5`. */
const amount = (limit: Nanos | undefined): string => (limit === undefined ? '' : formatUsd(limit));

class ExpiryPassed extends AppError {
  constructor() {
    super('invalid_request', 'Enter today or a later date, or leave empty for no expiry.', {
      param: 'expires',
    });
  }
}

/** Separated by line breaks, commas or spaces. */
const typedNetworks = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean);

function networksError(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Enter addresses and ranges, one per line.';
  try {
    networksOf(typedNetworks(value));
    return undefined;
  } catch (error) {
    return AppError.from(error).message;
  }
}
