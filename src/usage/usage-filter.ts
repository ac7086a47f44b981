import type { CallResult } from './call-result.js';

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

/** What a row of calls says of how it went. */
const RESULT = 'call_result(c.status, c.error_reason, c.billing_basis)';

/** The filter's conditions on rows `c` of calls or of their sums, the time left out; begins with AND, or is empty. */
export function conditions(filter: UsageFilter, parameters: Parameters, result = RESULT): string {
  const equal: readonly (readonly [column: string, value: string | undefined])[] = [
    ['c.account_id', filter.accountId],
    ['c.model', filter.model],
    ['c.key_id', filter.keyId],
    ['c.group_name', filter.group],
    ['c.id', filter.requestId],
    [result, filter.result],
  ];
  return equal
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => ` AND ${column} = ${parameters.add(value)}`)
    .join('');
}
