import type { AppError } from '../../platform/shared/index.js';
import type { AdmissionResult } from './admission.js';
import { AccountOwes, InsufficientQuota } from './billing.errors.js';

/**
 * What a call is told that has not the money; undefined when it is admitted, or when the key or the catalog has to be
 * read anew.
 * @param minimum the least that it needs, in nanos
 */
export function refusalOf(result: AdmissionResult, minimum: bigint, keyName: string): AppError | undefined {
  switch (result.outcome) {
    case 'wallet':
    case 'key':
    case 'budget':
      return new InsufficientQuota(result.outcome, result, minimum, keyName);
    case 'owed':
      return new AccountOwes(result);
    case 'admitted':
    case 'stale':
    case 'key_state':
    case 'account_state':
      return undefined;
    default:
      return result.outcome satisfies never;
  }
}
