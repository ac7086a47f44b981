import type { AppError } from '../../../platform/shared/index.js';

/** Why something rests: a credential for a fault of its own, a channel because its calls fail. */
export type CooldownReason = CredentialError | 'failures';

/** A channel or credential that is left alone, as all processes know it. Immutable. */
export interface Cooldown {
  /** Of what: `subjectOf`, `credentialSubjectOf`. */
  readonly subject: string;
  /** Another one for every rest. */
  readonly id: string;
  readonly reason: CooldownReason;
  /** By the clock of this process. */
  readonly untilMs: number;
  /** The how manieth in a row. */
  readonly strikes: number;
  /** Until then a call tries whether it is over, here or in another process; 0: none does. */
  readonly probeUntilMs: number;
}

/** `due`: its time is up, and one call is to try. */
type Stage = 'resting' | 'probing' | 'due';

export function stageOf({ untilMs, probeUntilMs }: Cooldown, nowMs: number): Stage {
  if (nowMs < untilMs) return 'resting';
  return nowMs < probeUntilMs ? 'probing' : 'due';
}

/** When a rate limit has told its time there is nothing to be tried: the rest is over by itself. */
export const isOver = ({ reason, untilMs }: Cooldown, nowMs: number): boolean =>
  reason === 'rate_limit' && nowMs >= untilMs;

/** Why one credential of a channel cannot be called with while others may. */
const CREDENTIAL_ERRORS = ['rate_limit', 'refused', 'no_money'] as const;
export type CredentialError = (typeof CREDENTIAL_ERRORS)[number];

/** What an upstream did wrong: by a credential, or `failure`, anything else that another channel may do better. */
type UpstreamFailure = CredentialError | 'failure';

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
