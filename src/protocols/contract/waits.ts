import { monotonicMs } from '../../platform/shared/index.js';

/** Its client took nothing, more money was asked for, or an upstream was given a moment before the next one was asked. */
export const WAIT_REASONS = ['client', 'credit', 'back_off'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** How often and how long something was waited for, and when: begin and length of each time, from the call's beginning. */
export interface WaitRecord {
  readonly count: number;
  readonly ms: number;
  /** Times that lie close together may be one span, so that these can come to more than `ms`. */
  readonly spans: readonly (readonly [atMs: number, tookMs: number])[];
}

export type WaitRecords = Readonly<Partial<Record<WaitReason, WaitRecord>>>;

/** A slow client stops and goes on thousands of times: of more than this, those that lie closest together become one. */
const MAX_SPANS = 20;

/** What the answer of one call stood still for, while it runs. Costs nothing before there is something. */
export class Waits {
  private readonly byReason: Partial<Record<WaitReason, Spans>> = {};

  /** @param startedMs when the call arrived, by the monotonic clock */
  constructor(private readonly startedMs: number) {}

  /** Again does nothing. */
  begin(reason: WaitReason): void {
    (this.byReason[reason] ??= new Spans()).begin(monotonicMs() - this.startedMs);
  }

  /** Without a beginning does nothing. */
  end(reason: WaitReason): void {
    this.byReason[reason]?.end(monotonicMs() - this.startedMs);
  }

  /** All of a call that has ended so many milliseconds after it began; undefined when there was none to speak of. */
  recordsUntil(endMs: number): WaitRecords | undefined {
    const entries = WAIT_REASONS.map((reason) => [reason, this.byReason[reason]?.record(endMs)] as const);
    const known = entries.filter(([, record]) => record !== undefined && record.ms > 0);
    return known.length === 0 ? undefined : Object.fromEntries(known);
  }
}

/** The times of one reason, in order. */
class Spans {
  /** Begin and end of each in turn. */
  private readonly bounds: number[] = [];
  private sinceMs: number | undefined;
  private count = 0;
  private ms = 0;

  begin(atMs: number): void {
    this.sinceMs ??= atMs;
  }

  end(atMs: number): void {
    if (this.sinceMs === undefined) return;
    this.count += 1;
    this.ms += atMs - this.sinceMs;
    this.bounds.push(this.sinceMs, atMs);
    this.sinceMs = undefined;
    if (this.bounds.length > 2 * MAX_SPANS) this.joinClosest();
  }

  record(endMs: number): WaitRecord {
    const { bounds, sinceMs } = this;
    const all = sinceMs === undefined ? bounds : [...bounds, sinceMs, Math.max(sinceMs, endMs)];
    const spans: [number, number][] = [];
    for (let at = 0; at < all.length; at += 2) {
      const [begin = 0, end = 0] = all.slice(at, at + 2);
      spans.push([Math.round(begin), Math.round(end - begin)]);
    }
    const running = sinceMs === undefined ? 0 : Math.max(0, endMs - sinceMs);
    return {
      count: this.count + (sinceMs === undefined ? 0 : 1),
      ms: Math.round(this.ms + running),
      spans: spans.filter(([, tookMs]) => tookMs > 0),
    };
  }

  private joinClosest(): void {
    let closest = 1;
    for (let end = 3; end < this.bounds.length - 1; end += 2) if (this.gap(end) < this.gap(closest)) closest = end;
    this.bounds.copyWithin(closest, closest + 2);
    this.bounds.length -= 2;
  }

  /** From this end to the beginning behind it. */
  private gap(end: number): number {
    return (this.bounds[end + 1] ?? Infinity) - (this.bounds[end] ?? 0);
  }
}
