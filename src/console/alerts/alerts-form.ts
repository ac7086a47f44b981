import { IsIn } from 'class-validator';
import { formatUsd, nanos, ZERO } from '../../platform/shared/index.js';
import { amountOf, countOf, type FormBody, IsAmount, IsCount } from '../web/index.js';
import type { AlertSettings } from '../../keys/alerts/index.js';

const CENT = nanos(10_000_000n);

/** Value of a selected checkbox; a cleared one is not sent. */
const TICKED = 'yes';

const Box = (): PropertyDecorator => IsIn([TICKED, ''], { message: 'Select or clear the checkbox.' });

const Percent = (): PropertyDecorator =>
  IsCount({ message: 'Enter an integer from 1 to 99, or leave empty for no email.', least: 1, most: 99 });

/** Alert settings as entered; empty: no email. */
export class AlertsForm {
  @IsAmount({
    message: 'Enter an amount in dollars, such as 5 or 12.50, or leave empty for no email.',
    mayBeEmpty: true,
    least: CENT,
  })
  readonly walletBelow: string = '';

  @Percent()
  readonly quotaPercent: string = '';

  @Box()
  readonly quotaUsedUp: string = '';

  @Percent()
  readonly budgetPercent: string = '';

  @Box()
  readonly budgetUsedUp: string = '';

  @IsCount({ message: 'Enter 1 to 365 days, or leave empty for no email.', least: 1, most: 365 })
  readonly expiryDays: string = '';

  @Box()
  readonly newNetwork: string = '';

  @Box()
  readonly unusualVolume: string = '';
}

export const settingsOf = (form: AlertsForm): AlertSettings => ({
  walletBelow: amountOf(form.walletBelow) ?? ZERO,
  quotaPercent: countOf(form.quotaPercent) ?? 0,
  quotaUsedUp: form.quotaUsedUp === TICKED,
  budgetPercent: countOf(form.budgetPercent) ?? 0,
  budgetUsedUp: form.budgetUsedUp === TICKED,
  expiryDays: countOf(form.expiryDays) ?? 0,
  newNetwork: form.newNetwork === TICKED,
  unusualVolume: form.unusualVolume === TICKED,
});

/** Form values of the settings. */
export const valuesOf = (settings: AlertSettings): FormBody => ({
  walletBelow: settings.walletBelow === ZERO ? '' : formatUsd(settings.walletBelow),
  quotaPercent: numberIn(settings.quotaPercent),
  quotaUsedUp: boxIn(settings.quotaUsedUp),
  budgetPercent: numberIn(settings.budgetPercent),
  budgetUsedUp: boxIn(settings.budgetUsedUp),
  expiryDays: numberIn(settings.expiryDays),
  newNetwork: boxIn(settings.newNetwork),
  unusualVolume: boxIn(settings.unusualVolume),
});

const numberIn = (value: number): string => (value === 0 ? '' : String(value));
const boxIn = (ticked: boolean): string => (ticked ? TICKED : '');
