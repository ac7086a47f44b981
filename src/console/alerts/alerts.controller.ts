import { Body, Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { IsIn } from 'class-validator';
import type { Visitor } from '../../auth/index.js';
import { AlertPreferences, type AlertSettings, AlertsModule } from '../../keys/alerts/index.js';
import { price, usd } from '../../platform/format/index.js';
import { Settings, SettingsModule } from '../../platform/settings/index.js';
import { Clock, formatUsd, type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { WalletModule, WalletOutlook } from '../../wallet/index.js';
import { AccessModule, SignedIn } from '../access/index.js';
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

/** The page on which people say what they are warned of. */
@Injectable()
class AlertPages {
  constructor(
    private readonly alerts: AlertPreferences,
    private readonly outlook: WalletOutlook,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @param form as it was sent, when it was refused */
  async show({ accountId, email }: Visitor, form?: Form<AlertsForm>): Promise<Page> {
    const { smtpUrl, unusable } = this.settings.current().mail;
    const data = {
      form: form ?? Form.empty<AlertsForm>(valuesOf(await this.alerts.of(accountId))),
      email,
      walletHint: await this.walletHint(accountId),
      noMail: smtpUrl === undefined || unusable !== undefined,
      crumbs: CRUMBS,
    };
    return new Page('account/alerts', { title: 'Alerts', width: 'narrow', data });
  }

  /** What would be a sensible threshold for it. */
  private async walletHint(accountId: string): Promise<string> {
    const { pace = ZERO } = await this.outlook.of(accountId, this.clock.date());
    if (pace === ZERO) return 'Set it to what you spend in a few days.';
    return `You spend ${usd(pace)} a day: ${price(suggestedThreshold(pace))} lasts for three days.`;
  }
}

const SAVED = {
  tone: 'ok',
  title: 'Alerts saved',
  text: 'Thresholds that are already crossed are reported immediately.',
} as const;

/** What one is warned of by mail. */
@Controller('account/alerts')
@SignedIn()
class AlertsController {
  constructor(
    private readonly alerts: AlertPreferences,
    private readonly pages: AlertPages,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.pages.show(visitor);
  }

  @Post()
  async save(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(AlertsForm, body);
    const { value } = form;
    if (value === undefined) return this.pages.show(visitor, form);
    await this.alerts.save(visitor.accountId, settingsOf(value));
    return new Redirect('/account/alerts', SAVED);
  }
}

@Module({
  imports: [AccessModule, AlertsModule, SettingsModule, WalletModule],
  controllers: [AlertsController],
  providers: [AlertPages],
})
export class AlertPagesModule {}

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

/** Value of a selected checkbox; a cleared one is not sent. */
const TICKED = 'yes';

const Box = (): PropertyDecorator => IsIn([TICKED, ''], { message: 'Select or clear the checkbox.' });

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

  @Box()
  readonly quotaUsedUp: string = '';

  @Percent()
  readonly budgetPercent: string = '';

  @Box()
  readonly budgetUsedUp: string = '';

  @IsCount({ message: 'Enter 1 to 365 days, or leave empty for no email.', min: 1, max: 365 })
  readonly expiryDays: string = '';

  @Box()
  readonly newNetwork: string = '';

  @Box()
  readonly unusualVolume: string = '';
}

const settingsOf = (form: AlertsForm): AlertSettings => ({
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
const valuesOf = (settings: AlertSettings): FormBody => ({
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
