import { nanos } from '../../platform/shared/index.js';
import { dateTime, price, usd, zoneName } from '../../platform/format/index.js';
import type { AccountNoticeText } from './account-notices.js';
import type { AlertAddressee, AlertContent, BudgetFacts, LimitFacts } from './alert.js';

const BUDGETS = {
  day: { name: 'daily budget', label: 'Daily budget (UTC)' },
  week: { name: 'weekly budget', label: 'Weekly budget (UTC)' },
  month: { name: 'monthly budget', label: 'Monthly budget (UTC)' },
} as const;

/** What an alert says. */
export function wordsOf(alert: AlertContent & AlertAddressee): AccountNoticeText {
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
      `When it is used up, calls with this key are rejected until the budget resets, ${anew(key, facts)}, or you raise it.`,
    ],
    figures: [...figuresOf(label, facts), { label: 'Resets', value: anew(key, facts) }],
    button: { label: 'Change the budget', path: editPath(key) },
  };
}

function budgetUsedUpText(key: AlertAddressee, facts: BudgetFacts): AccountNoticeText {
  const { name, label } = BUDGETS[facts.period];
  return {
    ...titled(`Key “${key.keyName}” has used up its ${name}`),
    paragraphs: [`Calls with this key are rejected until the budget resets, ${anew(key, facts)}, or you raise it.`],
    figures: [...figuresOf(label, facts), { label: 'Resets', value: anew(key, facts) }],
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
const anew = (key: AlertAddressee, { resetsAt }: BudgetFacts): string => momentOf(new Date(resetsAt), key);

/** Whole percent that are used; never 100 while something is left. */
const percentOf = ({ used, top }: LimitFacts): string => `${(BigInt(used) * 100n) / BigInt(top)}%`;

const figuresOf = (label: string, facts: LimitFacts): NonNullable<AccountNoticeText['figures']> => [
  { label, value: price(money(facts.top)) },
  { label: 'Used', value: `${usd(money(facts.used))}, ${percentOf(facts)}` },
];
