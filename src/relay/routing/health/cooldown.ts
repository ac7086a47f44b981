import type { AppError } from '../../../platform/shared/index.js';

/** Why a credential or channel cools down. */
export type CooldownReason = CredentialError | 'failures';

/** A cooldown of a channel or credential, shared by all processes. Immutable. */
export interface Cooldown {
  /** From `subjectOf` or `credentialSubjectOf`. */
  readonly subject: string;
  /** Unique per cooldown. */
  readonly id: string;
  readonly reason: CooldownReason;
  /** By this process's clock. */
  readonly untilMs: number;
  /** Consecutive cooldowns, including this one. */
  readonly strikes: number;
  /** Until then a call probes, here or in another process; 0: none. */
  readonly probeUntilMs: number;
}

/** `due`: expired, and one call should probe. */
type Stage = 'resting' | 'probing' | 'due';

export function stageOf({ untilMs, probeUntilMs }: Cooldown, nowMs: number): Stage {
  if (nowMs < untilMs) return 'resting';
  return nowMs < probeUntilMs ? 'probing' : 'due';
}

/** Rate limits with a known end need no probe. */
export const isOver = ({ reason, untilMs }: Cooldown, nowMs: number): boolean =>
  reason === 'rate_limit' && nowMs >= untilMs;

/** Why a credential is unusable while others may work. */
const CREDENTIAL_ERRORS = ['rate_limit', 'refused', 'no_money'] as const;
export type CredentialError = (typeof CREDENTIAL_ERRORS)[number];

/** A failure of a credential, or any other that another channel may avoid. */
type UpstreamFailure = CredentialError | 'failure';

/**
 * Undefined if the upstream is not at fault: invalid requests, cancelled clients, the relay's own limits; and requests
 * for a wrong model or beyond the upstream's size limits, which say nothing about other requests. Errors about an
 * upstream must set `failover`.
 */
export function classifyFailure({ kind, details }: AppError): UpstreamFailure | undefined {
  if (details.failover !== true || details.unknownModel === true || details.ofRequest === true) return undefined;
  if (kind === 'rate_limit_exceeded') return 'rate_limit';
  if (kind === 'upstream_auth') return 'refused';
  return details.outOfMoney === true ? 'no_money' : 'failure';
}

export const isOfCredential = (fault: UpstreamFailure | undefined): fault is CredentialError =>
  fault !== undefined && fault !== 'failure';
