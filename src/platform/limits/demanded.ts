import type { LimitStatus, LimitStatuses } from './limit-status.js';
import type { Correction, Counted, Decision, Place, Refusal, Taking } from './counts.js';
import type { ExceededLimit } from './rate-limited.js';
import type { Demand, LimitKind, Subject } from './subject.js';

const MINUTE_MS = 60_000;

interface Asked {
  readonly subject: Subject;
  readonly limit: LimitKind;
  readonly allowed: number;
}

interface AskedCount extends Asked {
  readonly counted: Counted;
}

interface AskedPlace extends Asked {
  readonly place: Place;
}

/** What a call asks of the limits, as what is to be taken of which count; and what the decision means for the call. */
export class Demanded {
  readonly taking: Taking;
  private readonly counts: readonly AskedCount[];
  private readonly places: readonly AskedPlace[];

  constructor({ id, subjects, tokens, runs }: Demand) {
    this.counts = subjects.flatMap((subject) => [
      ...countOf(subject, 'requests', subject.limits.requestsPerMinute, 1),
      ...countOf(subject, 'tokens', runs ? subject.limits.tokensPerMinute : undefined, tokens),
    ]);
    this.places = runs ? subjects.flatMap(placeOf) : [];
    this.taking = {
      id,
      counts: this.counts.map(({ counted }) => counted),
      places: this.places.map(({ place }) => place),
    };
  }

  /** What kept the call from being admitted. */
  exceeded({ refusal, standings }: Decision & { readonly refusal: Refusal }): ExceededLimit {
    const { which } = refusal;
    const asked = this.counts[which] ?? this.places[which - this.counts.length];
    if (asked === undefined) throw new TypeError(`Limit ${which} was exceeded but not requested.`);
    const { subject, limit, allowed } = asked;
    return {
      subject,
      limit,
      allowed,
      used: standings[which]?.used ?? 0,
      needed: this.counts[which]?.counted.amount ?? 1,
    };
  }

  /** The tightest limit of each kind: where least is left. */
  standings({ standings }: Decision, nowMs: number): LimitStatuses {
    const found: { requests?: LimitStatus; tokens?: LimitStatus } = {};
    this.counts.forEach(({ limit, allowed }, index) => {
      const standing = standings[index];
      if (limit === 'concurrency' || standing === undefined) return;
      const { used, resetMs } = standing;
      const remaining = Math.max(0, allowed - used);
      const tightest = found[limit];
      if (tightest !== undefined && tightest.remaining <= remaining) return;
      found[limit] = { limit: allowed, remaining, resetMs, resetsAt: nowMs + resetMs };
    });
    return found;
  }

  /** Corrections of token counts for the actual usage. */
  corrections(usedTokens: number, { standings }: Decision): readonly Correction[] {
    return this.counts.flatMap(({ limit, counted: { key, windowMs, amount } }, index) => {
      if (limit !== 'tokens' || usedTokens === amount) return [];
      return [{ key, windowMs, amount: usedTokens - amount, window: standings[index]?.window ?? 0 }];
    });
  }
}

function countOf(
  subject: Subject,
  limit: 'requests' | 'tokens',
  allowed: number | undefined,
  amount: number,
): AskedCount[] {
  if (allowed === undefined) return [];
  const counted = { key: keyOf(subject, limit), windowMs: MINUTE_MS, limit: allowed, amount };
  return [{ subject, limit, allowed, counted }];
}

function placeOf(subject: Subject): AskedPlace[] {
  const { concurrency } = subject.limits;
  if (concurrency === undefined) return [];
  const place = { key: keyOf(subject, 'concurrency'), limit: concurrency };
  return [{ subject, limit: 'concurrency', allowed: concurrency, place }];
}

const keyOf = ({ kind, id }: Subject, limit: LimitKind): string => `${limit} of ${kind} ${id}`;
