import { type CallOutcome, resultOf } from './calls/recorded-call.js';
import type { UpstreamResponse } from './upstream-response.js';

/** Whose calls: all of an account, or those of one member of an organization; null: those of no member. */
export interface CallOwner {
  readonly accountId: string;
  readonly memberId?: string | null | undefined;
}

/** SQL condition for rows `calls` of an owner. */
export function ownedBy(calls: string, { accountId, memberId }: CallOwner, parameters: Parameters): string {
  return `${calls}.account_id = ${parameters.add(accountId)}${ofMember(calls, memberId, parameters)}`;
}

function ofMember(calls: string, memberId: CallOwner['memberId'], parameters: Parameters): string {
  if (memberId === undefined) return '';
  return memberId === null
    ? ` AND ${calls}.member_id IS NULL`
    : ` AND ${calls}.member_id = ${parameters.add(memberId)}`;
}

/** Selects calls with `from <= time < to` and the given properties. */
export interface UsageFilter {
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
  /** As in `CallOwner`. */
  readonly memberId?: string | null | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly requestId?: string | undefined;
  readonly model?: string | undefined;
  readonly keyId?: string | undefined;
  readonly group?: string | undefined;
  readonly result?: CallOutcome | undefined;
  /**
   * For administrators. The channel of the last attempt, under any of its names; the upstream response of any attempt.
   */
  readonly channel?: string | undefined;
  readonly upstream?: UpstreamResponse | undefined;
  /** Only calls that cost more than was charged. */
  readonly atALoss?: boolean | undefined;
  /** Only calls whose usage report was not plausible. */
  readonly isCorrected?: boolean | undefined;
}

/** Collects the parameters of a generated statement. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder with its type: `$3::text`. */
  add(value: unknown, type = 'text'): string {
    return `$${this.values.push(value)}::${type}`;
  }

  time(value: Date | string): string {
    return this.add(typeof value === 'string' ? value : value.toISOString(), 'timestamptz');
  }
}

/** Conditions of the filter, except time, for rows `c` of calls or rollups; starts with AND, or is empty. */
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
    ofMember('c', filter.memberId, parameters) +
    channel +
    loss +
    corrected +
    (filter.upstream === undefined ? '' : answeredWith(filter.upstream, filter, parameters))
  );
}

/** Calls keep their channel's former name, so all of its names match. */
function sentTo(channel: string, parameters: Parameters): string {
  const name = parameters.add(channel);
  return ` AND c.channel = ANY (ARRAY[${name}] || ARRAY(
    SELECT unnest(former_names) FROM channels WHERE name = ${name} AND deleted_at IS NULL))`;
}

/** Whether the filter can only match finished calls: open ones have no upstream data. */
export const ofFinished = ({ channel, upstream, atALoss, isCorrected }: UsageFilter): boolean =>
  channel !== undefined || upstream !== undefined || atALoss === true || isCorrected === true;

/** Bounded by the calls' times: attempts are in the partition of their call. */
function answeredWith(response: UpstreamResponse, { from, to }: UsageFilter, parameters: Parameters): string {
  const status =
    response === 'none'
      ? 't.upstream_status IS NULL'
      : `t.upstream_status BETWEEN ${parameters.add(response.from, 'integer')} AND ${parameters.add(response.to, 'integer')}`;
  return ` AND EXISTS (SELECT FROM call_attempts t WHERE t.call_id = c.id AND t.created_at = c.created_at
    AND t.created_at >= ${parameters.time(from)} AND t.created_at < ${parameters.time(to)} AND ${status})`;
}
