import type { CredentialError } from './upstream-failure.js';

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
