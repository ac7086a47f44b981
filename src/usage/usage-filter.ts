import { type CallResult, resultOf } from './calls/recorded-call.js';
import type { UpstreamResponse } from './upstream-response.js';

/** Which calls: all with `from <= time < to`, and everything else that is said of them. */
export interface UsageFilter {
  /** Undefined: of every account. */
  readonly accountId: string | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly requestId?: string | undefined;
  readonly model?: string | undefined;
  readonly keyId?: string | undefined;
  readonly group?: string | undefined;
  readonly result?: CallResult | undefined;
  /** Operators' own filters. The channel is that of the last attempt, under any name it had; the answer, that of any. */
  readonly channel?: string | undefined;
  readonly upstream?: UpstreamResponse | undefined;
  /** Only calls that cost the operator more than was charged for them. */
  readonly atALoss?: boolean | undefined;
  /** Only calls whose upstream reported a usage that cannot be true. */
  readonly isCorrected?: boolean | undefined;
}

/** The values of a statement that is put together from parts. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Its place in the statement, with its type: `$3::text`. */
  add(value: unknown, type = 'text'): string {
    return `$${this.values.push(value)}::${type}`;
  }

  time(value: Date | string): string {
    return this.add(typeof value === 'string' ? value : value.toISOString(), 'timestamptz');
  }
}

/** The filter's conditions on rows `c` of calls or of their sums, the time left out; begins with AND, or is empty. */
export function conditions(filter: UsageFilter, parameters: Parameters, result = resultOf('c')): string {
  const equal: readonly (readonly [column: string, value: string | undefined])[] = [
    ['c.account_id', filter.accountId],
    ['c.model', filter.model],
    ['c.key_id', filter.keyId],
    ['c.group_name', filter.group],
    ['c.id', filter.requestId],
    [result, filter.result],
  ];
  const alike = equal
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => ` AND ${column} = ${parameters.add(value)}`)
    .join('');
  const channel = filter.channel === undefined ? '' : sentTo(filter.channel, parameters);
  const loss = filter.atALoss === true ? ' AND c.upstream_cost > c.cost' : '';
  const corrected = filter.isCorrected === true ? " AND c.billing_basis = 'corrected'" : '';
  return (
    alike +
    channel +
    loss +
    corrected +
    (filter.upstream === undefined ? '' : answeredWith(filter.upstream, filter, parameters))
  );
}

/** Calls keep the name that their channel had: of one that was renamed, all of its names count. */
function sentTo(channel: string, parameters: Parameters): string {
  const name = parameters.add(channel);
  return ` AND c.channel = ANY (ARRAY[${name}] || ARRAY(
    SELECT unnest(former_names) FROM channels WHERE name = ${name} AND deleted_at IS NULL))`;
}

/** Whether what is asked for can be told of finished calls alone: of open ones nothing is known of upstreams. */
export const ofFinished = ({ channel, upstream, atALoss, isCorrected }: UsageFilter): boolean =>
  channel !== undefined || upstream !== undefined || atALoss === true || isCorrected === true;

/** The bounds are those of the calls: attempts stand in the partition of their call, and no other one need be read. */
function answeredWith(answer: UpstreamResponse, { from, to }: UsageFilter, parameters: Parameters): string {
  const status =
    answer === 'none'
      ? 't.upstream_status IS NULL'
      : `t.upstream_status BETWEEN ${parameters.add(answer.from, 'integer')} AND ${parameters.add(answer.to, 'integer')}`;
  return ` AND EXISTS (SELECT FROM call_attempts t WHERE t.call_id = c.id AND t.created_at = c.created_at
    AND t.created_at >= ${parameters.time(from)} AND t.created_at < ${parameters.time(to)} AND ${status})`;
}
