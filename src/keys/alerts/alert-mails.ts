import { Injectable } from '@nestjs/common';
import { MailWriter } from '../../auth/index.js';
import { dateTime, price, usd, zoneName } from '../../platform/format/index.js';
import type { Mail } from '../../platform/mail/index.js';
import { Clock, nanos } from '../../platform/shared/index.js';
import { type KeyNotice, KeyNotices } from '../index.js';
import { AccountNotices, type AccountNoticeText } from './account-notices.js';
import type { AlertAddressee, AlertContent, BudgetFacts, DueAlert, LimitFacts } from './alert.js';

const FOOT = 'You receive this email because of your alert settings.';
const MANAGE = { label: 'Manage alerts', path: '/account/alerts' } as const;

/** Writes the emails of alerts. */
@Injectable()
export class AlertMails {
  constructor(private readonly writer: MailWriter) {}

  mailOf(alert: DueAlert): Mail {
    const { button, subject, ...text } = textOf(alert);
    const { organization } = alert;
    const content = {
      ...text,
      subject: organization === null ? subject : `${organization}: ${subject}`,
      action: button.label,
      foot: organization === null ? FOOT : `You receive this email because you manage the wallet of ${organization}.`,
      manage: MANAGE,
    };
    return this.writer.write(alert.emails, () => content, { path: button.path });
  }
}

const BUDGETS = {
  day: { name: 'daily budget', label: 'Daily budget (UTC)' },
  week: { name: 'weekly budget', label: 'Weekly budget (UTC)' },
  month: { name: 'monthly budget', label: 'Monthly budget (UTC)' },
} as const;

/** Text of an alert. */
export function textOf(alert: AlertContent & AlertAddressee): AccountNoticeText {
  switch (alert.kind) {
    case 'wallet':
      return lowBalanceText(alert.facts);
    case 'quota':
      return quotaText(alert, alert.facts);
    case 'quota-used-up':
      return quotaUsedUpText(alert, alert.facts);
    case 'budget':
      return budgetText(alert, alert.facts);
    case 'budget-used-up':
      return budgetUsedUpText(alert, alert.facts);
    case 'expiry':
      return expiryText(alert, new Date(alert.facts.expiresAt));
    case 'new-network':
    case 'unusual-volume':
      return alert.facts.words;
  }
}

function lowBalanceText(facts: { readonly balance: string; readonly below: string }): AccountNoticeText {
  const [balance, below] = [money(facts.balance), money(facts.below)];
  return {
    subject: `Your balance is below ${price(below)}`,
    heading: `${usd(balance)} left in your wallet`,
    paragraphs: [
      `Your balance fell below your alert threshold of ${price(below)}. Calls are rejected with “insufficient quota” when the balance no longer covers them.`,
    ],
    figures: [
      { label: 'Balance', value: usd(balance) },
      { label: 'Your threshold', value: price(below) },
    ],
    button: { label: 'Add funds', path: '/wallet' },
  };
}

const quotaText = (key: AlertAddressee, facts: LimitFacts): AccountNoticeText => ({
  ...titled(`Key “${key.keyName}” has used ${percentOf(facts)} of its quota`),
  paragraphs: [
    'When the quota is used up, calls with this key are rejected until you raise it. Other keys are not affected.',
  ],
  figures: figuresOf('Quota', facts),
  button: { label: 'Raise the quota', path: editPath(key) },
});

const quotaUsedUpText = (key: AlertAddressee, facts: LimitFacts): AccountNoticeText => ({
  ...titled(`Key “${key.keyName}” has used up its quota`),
  paragraphs: ['Calls with this key are rejected until you raise its quota. Other keys are not affected.'],
  figures: figuresOf('Quota', facts),
  button: { label: 'Raise the quota', path: editPath(key) },
});

function budgetText(key: AlertAddressee, facts: BudgetFacts): AccountNoticeText {
  const { name, label } = BUDGETS[facts.period];
  return {
    ...titled(`Key “${key.keyName}” has used ${percentOf(facts)} of its ${name}`),
    paragraphs: [
      `When it is used up, calls with this key are rejected until the budget resets, ${resetTime(key, facts)}, or you raise it.`,
    ],
    figures: [...figuresOf(label, facts), { label: 'Resets', value: resetTime(key, facts) }],
    button: { label: 'Change the budget', path: editPath(key) },
  };
}

function budgetUsedUpText(key: AlertAddressee, facts: BudgetFacts): AccountNoticeText {
  const { name, label } = BUDGETS[facts.period];
  return {
    ...titled(`Key “${key.keyName}” has used up its ${name}`),
    paragraphs: [
      `Calls with this key are rejected until the budget resets, ${resetTime(key, facts)}, or you raise it.`,
    ],
    figures: [...figuresOf(label, facts), { label: 'Resets', value: resetTime(key, facts) }],
    button: { label: 'Change the budget', path: editPath(key) },
  };
}

function expiryText(key: AlertAddressee, expiresAt: Date): AccountNoticeText {
  const moment = momentOf(expiresAt, key);
  return {
    ...titled(`Key “${key.keyName}” expires soon`),
    paragraphs: [`Calls with this key are rejected from ${moment} on, unless you extend it.`],
    figures: [{ label: 'Expires', value: moment }],
    button: { label: 'Change the expiry', path: editPath(key) },
  };
}

const money = (text: string) => nanos(BigInt(text));
const editPath = ({ keyId }: AlertAddressee): string => `/keys/${keyId}/edit`;
const titled = (title: string) => ({ subject: title, heading: title });
const momentOf = (at: Date, { timeZone }: AlertAddressee): string =>
  `${dateTime(at, timeZone)} ${zoneName(at, timeZone)}`;
const resetTime = (key: AlertAddressee, { resetsAt }: BudgetFacts): string => momentOf(new Date(resetsAt), key);

/** Used share in whole percent; never 100 while something is left. */
const percentOf = ({ used, top }: LimitFacts): string => `${(BigInt(used) * 100n) / BigInt(top)}%`;

const figuresOf = (label: string, facts: LimitFacts): NonNullable<AccountNoticeText['figures']> => [
  { label, value: price(money(facts.top)) },
  { label: 'Used', value: `${usd(money(facts.used))}, ${percentOf(facts)}` },
];

/** Older notices are not emailed. Matches the time for which an email is retried. */
const FRESH_MS = 24 * 60 * 60_000;

/** Emails notices of unusual key usage, which the key watch detects. */
@Injectable()
export class KeyNoticeMails {
  /** IDs of the notices that this process has already raised; skips the lookup on every scan. Raising is idempotent. */
  private raised: ReadonlySet<string> = new Set();

  constructor(
    private readonly notices: KeyNotices,
    private readonly mails: AccountNotices,
    private readonly clock: Clock,
  ) {}

  /** Raises notices of the last day that are not raised yet. */
  async scan(): Promise<void> {
    const notices = await this.notices.addedSince(new Date(this.clock.now() - FRESH_MS));
    for (const notice of notices) if (!this.raised.has(notice.id)) await this.raise(notice);
    this.raised = new Set(notices.map(({ id }) => id));
  }

  private async raise(notice: KeyNotice): Promise<void> {
    const { kind, accountId, keyId, occasion } = notice;
    await this.mails.raise({ kind, accountId, keyId, occasion, words: noticeText(notice) });
  }
}

function noticeText(notice: KeyNotice): AccountNoticeText {
  const title = titleOf(notice);
  const at = `${dateTime(notice.at, notice.timeZone)} ${zoneName(notice.at, notice.timeZone)}`;
  return {
    subject: title,
    heading: title,
    paragraphs: [
      EXPLANATIONS[notice.kind],
      'The key’s page shows where its calls came from and lets you disable it. If this was expected, dismiss the notice there.',
    ],
    figures:
      notice.kind === 'new-network'
        ? [
            { label: 'IP address', value: notice.address },
            { label: 'Network', value: notice.network },
            { label: 'First call', value: at },
          ]
        : [
            { label: 'Charged within an hour', value: usd(notice.spent) },
            { label: 'Highest previous hour', value: usd(notice.usual) },
            { label: 'Until', value: at },
          ],
    button: { label: 'View key', path: `/keys/${notice.keyId}` },
  };
}

const titleOf = ({ kind, keyName }: KeyNotice): string =>
  kind === 'new-network' ? `Key “${keyName}” was used from a new network` : `Key “${keyName}” has unusually high usage`;

const EXPLANATIONS: Readonly<Record<KeyNotice['kind'], string>> = {
  'new-network': 'This key was used from a network for the first time. If this was not you, the key may have leaked.',
  'unusual-volume':
    'Within an hour, this key was charged more than five times as much as in any hour of the previous 14 days. A client may be out of control, or the key may have leaked.',
};
