import { Body, Controller, Get, Post } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { allows, type Visitor } from '../../auth/index.js';
import { AlertPreferences, type AlertSettings } from '../../keys/alerts/index.js';
import { price, usd } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, formatUsd, type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { WalletOutlook } from '../../wallet/index.js';
import { Allows, SignedIn } from '../access/index.js';
import {
  amountOf,
  countOf,
  CurrentVisitor,
  Form,
  type FormBody,
  IsAmount,
  IsCount,
  Page,
  Redirect,
} from '../web/index.js';

const CRUMBS = [{ href: '/account', label: 'Account' }, { label: 'Alerts' }];

const SAVED = {
  tone: 'ok',
  title: 'Alerts saved',
  text: 'Thresholds that are already crossed are reported immediately.',
} as const;

/** Of the user's own account, or of the organization they work in. */
@Controller('account/alerts')
@SignedIn()
@Allows('view wallet')
export class AlertsController {
  constructor(
    private readonly alerts: AlertPreferences,
    private readonly outlook: WalletOutlook,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  @Get()
  async show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.page(visitor, Form.empty(valuesOf(await this.alerts.of(visitor.scopeId))));
  }

  @Post()
  @Allows('manage wallet')
  async save(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(AlertsForm, body);
    const { value } = form;
    if (value === undefined) return this.page(visitor, form);
    await this.alerts.save(visitor.scopeId, settingsOf(value));
    return new Redirect('/account/alerts', SAVED);
  }

  private async page({ scopeId, organization, email }: Visitor, form: Form<AlertsForm>): Promise<Page> {
    const { smtpUrl, unusable } = this.settings.current().mail;
    const data = {
      form,
      recipient: organization === undefined ? email : `the owner, admins and billing members of ${organization.name}`,
      mayChange: allows(organization, 'manage wallet'),
      walletHint: await this.walletHint(scopeId),
      noMail: smtpUrl === undefined || unusable !== undefined,
      crumbs: CRUMBS,
    };
    return new Page('account/alerts', { title: 'Alerts', width: 'narrow', data });
  }

  private async walletHint(accountId: string): Promise<string> {
    const { pace = ZERO } = await this.outlook.of(accountId, this.clock.date());
    if (pace === ZERO) return 'Try a few days’ worth of spend.';
    return `You spend ${usd(pace)} per day: ${price(suggestedThreshold(pace))} lasts for three days.`;
  }
}

const DOLLAR = 1_000_000_000n;
const DIME = 100_000_000n;
/** Long enough to add funds over a weekend. */
const DAYS = 3n;

/** A threshold that leaves three days at this pace: whole dollars, or whole dimes below one. */
function suggestedThreshold(perDay: Nanos): Nanos {
  const exact = perDay * DAYS;
  const step = exact > DOLLAR ? DOLLAR : DIME;
  return nanos(((exact + step - 1n) / step) * step);
}

const CENT = nanos(10_000_000n);

const CHECKED = 'yes';

const Checkbox = (): PropertyDecorator => IsIn([CHECKED, ''], { message: 'Select or clear the checkbox.' });

const Percent = (): PropertyDecorator =>
  IsCount({ message: 'Enter an integer from 1 to 99, or leave empty for no email.', min: 1, max: 99 });

/** Alert settings as entered; empty: no email. */
class AlertsForm {
  @IsAmount({
    message: 'Enter an amount in dollars, such as 5 or 12.50, or leave empty for no email.',
    mayBeEmpty: true,
    min: CENT,
  })
  readonly walletBelow: string = '';

  @Percent()
  readonly quotaPercent: string = '';

  @Checkbox()
  readonly quotaUsedUp: string = '';

  @Percent()
  readonly budgetPercent: string = '';

  @Checkbox()
  readonly budgetUsedUp: string = '';

  @IsCount({ message: 'Enter 1 to 365 days, or leave empty for no email.', min: 1, max: 365 })
  readonly expiryDays: string = '';

  @Checkbox()
  readonly newNetwork: string = '';

  @Checkbox()
  readonly unusualVolume: string = '';
}

const settingsOf = (form: AlertsForm): AlertSettings => ({
  walletBelow: amountOf(form.walletBelow) ?? ZERO,
  quotaPercent: countOf(form.quotaPercent) ?? 0,
  quotaUsedUp: form.quotaUsedUp === CHECKED,
  budgetPercent: countOf(form.budgetPercent) ?? 0,
  budgetUsedUp: form.budgetUsedUp === CHECKED,
  expiryDays: countOf(form.expiryDays) ?? 0,
  newNetwork: form.newNetwork === CHECKED,
  unusualVolume: form.unusualVolume === CHECKED,
});

const valuesOf = (settings: AlertSettings): FormBody => ({
  walletBelow: settings.walletBelow === ZERO ? '' : formatUsd(settings.walletBelow),
  quotaPercent: numberText(settings.quotaPercent),
  quotaUsedUp: boxValue(settings.quotaUsedUp),
  budgetPercent: numberText(settings.budgetPercent),
  budgetUsedUp: boxValue(settings.budgetUsedUp),
  expiryDays: numberText(settings.expiryDays),
  newNetwork: boxValue(settings.newNetwork),
  unusualVolume: boxValue(settings.unusualVolume),
});

const numberText = (value: number): string => (value === 0 ? '' : String(value));
const boxValue = (checked: boolean): string => (checked ? CHECKED : '');
