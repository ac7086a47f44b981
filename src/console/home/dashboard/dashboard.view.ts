import { clockTime, count, shortDay, usd } from '../../../platform/format/index.js';
import {
  type LoggedCall,
  type Percentiles,
  RESULT_LABELS,
  RESULT_TONES,
  type UsageFigures,
} from '../../../usage/index.js';
import { expiryNote, lastingBalance } from '../../../wallet/index.js';
import { unsuccessfulText, type UsageOverview } from '../../usage/index.js';
import {
  BUDGET_LABELS,
  clientSnippets,
  DOLLARS,
  type BudgetLeft,
  type SnippetModel,
  stackedBars,
} from '../../web/index.js';
import { attention, type AttentionConditions, daysLeftText } from './attention.js';

export interface DashboardInput extends AttentionConditions {
  /** The account's group; multiplier: `× 0.80`. */
  readonly group: { readonly name: string; readonly multiplier: string } | undefined;
  /** Undefined if the query timed out. */
  readonly usage: UsageOverview | undefined;
  /** Setup steps: whether the account has ever had funds, a key and a call. */
  readonly done: { readonly funds: boolean; readonly key: boolean; readonly call: boolean };
  readonly payable: boolean;
  /** What is left of the own budget of a member who may not see the balance; undefined: no budget. */
  readonly budget: BudgetLeft | undefined;
  /** Whether the reader can add credit as an administrator. */
  readonly isAdmin: boolean;
  readonly days: number;
  /** Callable models; snippets use the first. */
  readonly models: readonly SnippetModel[];
  readonly base: string;
}

export const RANGES = [7, 14, 30];

export function dashboardView(input: DashboardInput) {
  const { now, timeZone, group, usage, done, base, models } = input;
  return {
    greeting: greeting(now, timeZone),
    today: dayText(now, timeZone),
    group,
    stats: figures(input),
    mayUseKeys: input.mayUseKeys,
    steps: done.call ? undefined : steps(input),
    // The models of a new service come before anything that its users do.
    setUp: input.isAdmin && { href: '/admin', label: 'Set up this service' },
    failed: done.call && usage === undefined,
    spend: done.call ? usage && spendView(usage, input) : undefined,
    // Before the first call, an empty wallet is a setup step, not an alert.
    attention: done.call ? attention(input) : undefined,
    latest: done.call ? usage?.latest.map(latestCall) : undefined,
    addresses: [
      { id: 'base-openai', label: 'OpenAI clients', address: `${base}/v1` },
      { id: 'base-anthropic', label: 'Anthropic and Google clients', address: base },
    ],
    tabs: clientSnippets(base, models),
  };
}

/** In the reader's time zone. */
export function greeting(now: Date, timeZone: string): string {
  const hour = Number(clockTime(now, timeZone, 'minutes').slice(0, 2));
  if (hour >= 4 && hour < 12) return 'Good morning';
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening';
}

/** `Friday, 20 Nov` */
const dayText = (now: Date, timeZone: string): string =>
  `${new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone }).format(now)}, ${shortDay(now, timeZone)}`;

const REST = 'Other models';

function spendView({ spend }: UsageOverview, { days, timeZone }: DashboardInput) {
  const costOn = (start: Date, series: string): bigint =>
    spend.bars.find((bar) => bar.series === series && bar.start.getTime() === start.getTime())?.cost ?? 0n;
  const hasRest = spend.bars.some(({ series }) => series === '');
  const all = [...spend.series, ...(hasRest ? [''] : [])].map((name) => ({
    name: name || REST,
    values: spend.starts.map((start) => costOn(start, name)),
  }));
  const paid = all.filter(({ values }) => values.some((cost) => cost > 0n));
  // If everything is free, the chart shows that.
  const series = paid.length > 0 ? paid : all.slice(0, 1);
  const total = usd(spend.total.cost);
  return {
    text: `${total} in the last ${days} days`,
    ranges: RANGES.map((range) => ({ href: `/?days=${range}`, label: `${range} days`, current: range === days })),
    ...stackedBars({
      id: 'spend',
      finding: `Spend per day, last ${days} days. Total ${total}`,
      caption: 'Spend per day',
      bucketName: 'Day',
      buckets: spend.starts.map((start) => shortDay(start, timeZone)),
      series,
      restName: REST,
      unit: DOLLARS,
      order: series.map(({ name }) => name),
    }),
  };
}

const latestCall = (call: LoggedCall) => ({
  href: `/usage-logs/common/${call.id}`,
  at: call.createdAt,
  model: call.model,
  key: call.key,
  cost: call.cost,
  durationMs: call.durationMs,
  badge: { tone: RESULT_TONES[call.result], label: RESULT_LABELS[call.result] },
  reason: call.errorReason,
});

/** Steps before the first call; the first that is not done has the primary button. */
function steps({ done: { funds, key, call }, ...reader }: DashboardInput) {
  const all = [
    reader.mayPay && {
      title: 'Add funds',
      text: fundsText(reader),
      done: funds,
      action: { href: '/wallet', label: 'Add funds' },
    },
    reader.mayUseKeys && {
      title: 'Create an API key',
      text: 'Create one key per person and client. Each key is shown once.',
      done: key,
      action: { href: '/keys/new', label: 'Create key' },
    },
    {
      title: 'Make your first call',
      text: 'Try a model in the playground, or use one of the snippets below. The call appears here with its exact cost.',
      done: call,
      action: { href: '/playground', label: 'Open playground' },
    },
  ].filter((step) => step !== false);
  const next = all.findIndex(({ done }) => !done);
  return all.map(({ action, ...step }, index) => ({
    ...step,
    ...(!step.done && { action: { ...action, ...(index === next && { kind: 'primary' }) } }),
  }));
}

function fundsText({ payable, isAdmin }: Pick<DashboardInput, 'payable' | 'isAdmin'>): string {
  const credit = isAdmin ? 'add credit under Users' : 'ask an administrator for credit';
  return `${payable ? 'Pay with Stripe, redeem' : 'Redeem'} a code, or ${credit}.`;
}

const UNKNOWN = '–';

function figures(conditions: AttentionConditions & Pick<DashboardInput, 'usage' | 'budget'>) {
  const { usage } = conditions;
  const costs = usage && dayCosts(usage);
  return [
    fundsFigure(conditions),
    { label: 'Spent today', value: known(costs?.at(-1), usd), note: costs && `${usd(costs.at(-2) ?? 0n)} yesterday` },
    { label: 'Calls, 24 h', value: known(usage?.lastDay.calls, count), note: failedText(usage?.lastDay) },
    { label: 'First token, median', ...firstToken(usage?.firstTokens) },
  ];
}

const known = <T>(value: T | undefined, show: (value: T) => string): string =>
  value === undefined ? UNKNOWN : show(value);

function fundsFigure({ wallet, budget, ...conditions }: AttentionConditions & Pick<DashboardInput, 'budget'>) {
  if (wallet !== undefined)
    return { label: 'Balance', value: usd(wallet.balance), note: balanceNote(wallet, conditions) };
  if (budget === undefined) return { label: 'Left of your budget', value: UNKNOWN, note: 'no budget of your own' };
  return { label: BUDGET_LABELS[budget.period], value: usd(budget.left), note: '' };
}

type Lasting = Pick<AttentionConditions, 'pace' | 'allowance' | 'now'>;

function balanceNote({ balance, held }: NonNullable<AttentionConditions['wallet']>, lasting: Lasting): string {
  const { pace, allowance, now } = lasting;
  const left = daysLeftText(lastingBalance(balance, pace, allowance, now), pace);
  const onHold = held > 0n ? `${usd(held)} on hold` : '';
  return [left === undefined ? onHold : `lasts ${left}`, expiryNote(allowance)].filter(Boolean).join('; ');
}

function failedText(day: UsageFigures | undefined): string {
  if (day === undefined || day.calls === 0) return '';
  return unsuccessfulText(day) || 'none failed';
}

const firstToken = (times: Percentiles | undefined) =>
  times === undefined
    ? { value: UNKNOWN, note: 'no streams in 24 h' }
    : { value: `${count(times.medianMs)} ms`, note: `p95 ${count(times.p95Ms)} ms` };

/** Cost by day; the last is today. */
const dayCosts = ({ spend }: UsageOverview): bigint[] =>
  spend.starts.map((start) =>
    spend.bars.filter((bar) => bar.start.getTime() === start.getTime()).reduce((sum, { cost }) => sum + cost, 0n),
  );
