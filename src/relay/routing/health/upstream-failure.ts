import type { AppError } from '../../../platform/shared/index.js';

/** Why one credential of a channel cannot be called with while others may. */
export const CREDENTIAL_ERRORS = ['rate_limit', 'refused', 'no_money'] as const;
export type CredentialError = (typeof CREDENTIAL_ERRORS)[number];

/** What an upstream did wrong: by a credential, or `failure`, anything else that another channel may do better. */
export type UpstreamFailure = CredentialError | 'failure';

/**
 * Undefined when the upstream is not at fault: the request is, the client has left, or the relay gave up. So that whoever
 * raises an error for an upstream must say by `failover` that it is one. Nor is it where a wrong model is asked for there,
 * which says nothing of the others that it serves, or where only this request exceeds its limits.
 */
export function classifyFailure({ kind, details }: AppError): UpstreamFailure | undefined {
  if (details.failover !== true || details.unknownModel === true || details.ofRequest === true) return undefined;
  if (kind === 'rate_limit_exceeded') return 'rate_limit';
  if (kind === 'upstream_auth') return 'refused';
  return details.outOfMoney === true ? 'no_money' : 'failure';
}

export const isOfCredential = (fault: UpstreamFailure | undefined): fault is CredentialError =>
  fault !== undefined && fault !== 'failure';
