import type { Percentiles, UsageFigures } from '../../../usage/index.js';
import type { UsageOverview } from '../../usage/index.js';
import { expiryNote, lastingBalance } from '../../../wallet/index.js';
import { count, percent, usd } from '../../../platform/format/index.js';
import type { Conditions } from './attention.js';
import { daysLeftText } from './runway.js';

/** What stands where a number is not known. */
const UNKNOWN = '–';

/** The four figures on top of the dashboard, each with one line that compares it. */
export function figures(conditions: Conditions & { readonly usage: UsageOverview | undefined }) {
  const { wallet, usage } = conditions;
  const costs = usage && dayCosts(usage);
  return [
    { label: 'Balance', value: usd(wallet.balance), note: balanceNote(conditions) },
    { label: 'Spent today', value: known(costs?.at(-1), usd), note: costs && `${usd(costs.at(-2) ?? 0n)} yesterday` },
    { label: 'Calls, 24 h', value: known(usage?.lastDay.calls, count), note: failedText(usage?.lastDay) },
    { label: 'First token, median', ...firstToken(usage?.firstTokens) },
  ];
}

const known = <T>(value: T | undefined, show: (value: T) => string): string =>
  value === undefined ? UNKNOWN : show(value);

function balanceNote({ wallet: { balance, held }, pace, allowance, now }: Conditions): string {
  const left = daysLeftText(lastingBalance(balance, pace, allowance, now), pace);
  const onHold = held > 0n ? `${usd(held)} on hold` : '';
  return [left === undefined ? onHold : `${left} at this pace`, expiryNote(allowance)].filter(Boolean).join(', ');
}

function failedText(day: UsageFigures | undefined): string {
  if (day === undefined || day.calls === 0) return '';
  return day.failed === 0 ? 'none failed' : `${count(day.failed)} failed, ${percent(day.failed, day.calls)}`;
}

const firstToken = (times: Percentiles | undefined) =>
  times === undefined
    ? { value: UNKNOWN, note: 'no streams in 24 h' }
    : { value: `${count(times.medianMs)} ms`, note: `p95 ${count(times.p95Ms)} ms` };

/** What each day cost, the last one today. */
const dayCosts = ({ spend }: UsageOverview): bigint[] =>
  spend.starts.map((start) =>
    spend.bars.filter((bar) => bar.start.getTime() === start.getTime()).reduce((sum, { cost }) => sum + cost, 0n),
  );
