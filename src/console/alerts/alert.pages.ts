import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/index.js';
import { Clock, ZERO } from '../../platform/shared/index.js';
import { WalletOutlook } from '../../wallet/index.js';
import { Form, Page } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { price, usd } from '../../platform/format/index.js';
import { AlertPreferences } from '../../keys/alerts/index.js';
import { type AlertsForm, valuesOf } from './alerts-form.js';
import { suggestedThreshold } from './suggested-threshold.js';

const CRUMBS = [{ href: '/account', label: 'Account' }, { label: 'Alerts' }];

/** The page on which people say what they are warned of. */
@Injectable()
export class AlertPages {
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
