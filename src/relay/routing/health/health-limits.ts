import { Injectable } from '@nestjs/common';

const MINUTE_MS = 60_000;

/**
 * When a channel or one of its credentials cools down, or one account backs off from it, and for how long. Chosen for a
 * team with few calls: five that ended within a minute are enough to judge by; fewer are covered by failover. Half of
 * them must have failed: a shaky upstream still serves more calls than none. The first pause is short, so that a
 * hiccup costs seconds, and doubles up to a minute, which is also the longest `Retry-After` that clients get.
 */
@Injectable()
export class HealthLimits {
  /** Outcomes are remembered for so long. */
  readonly windowMs: number = MINUTE_MS;
  /** Fewer outcomes say nothing. */
  readonly leastOutcomes: number = 5;
  /** From this share of failures on a channel is out. */
  readonly failingShare: number = 0.5;
  /** The first pause of a failing channel; each further one in a row is twice as long. */
  readonly pauseMs: number = 5000;
  readonly longestPauseMs: number = MINUTE_MS;
  /** Of a credential that was refused, or whose account has no money left. */
  readonly refusedMs: number = 5 * MINUTE_MS;
  /** Of a credential at its rate limit, whatever its upstream asks for. */
  readonly longestRateLimitMs: number = 24 * 60 * MINUTE_MS;
  /** No further check call is sent with a credential for this long after one succeeded. */
  readonly checkAgainMs: number = 10_000;
  /** When the pause is over one call tries. If it has shown nothing after this time, another one may. */
  readonly probeMs: number = 30_000;
}
