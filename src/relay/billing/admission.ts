import { Injectable } from '@nestjs/common';
import { DatabasePools } from '../../platform/database/index.js';
import { monotonicMs, within } from '../../platform/shared/index.js';
import type { PriceSnapshot } from './price.js';

/** Admission request of a call; amounts in nanos. */
export interface AdmissionRequest {
  readonly id: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly key_version: number;
  readonly catalog_version: string;
  readonly process_id: string;
  readonly model: string;
  readonly group_name: string;
  readonly protocol: string;
  readonly stream: boolean;
  readonly effort: string;
  readonly ip: string;
  readonly snapshot: PriceSnapshot;
  readonly prompt: string;
  readonly minimum: string;
  readonly base: string;
  readonly ceiling: string;
}

/** Fields of the composite type `admission`, in order. */
export const ADMISSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'key_version',
  'catalog_version',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'prompt',
  'minimum',
  'base',
  'ceiling',
] as const satisfies readonly (keyof AdmissionRequest)[];

/** What lacks money: the wallet, the quota or a budget of the key, or a budget of the member or team of the key. */
export type ShortFunds = 'wallet' | 'key' | 'budget' | 'member' | 'team';
export type BudgetPeriod = 'day' | 'week' | 'month' | 'lifetime';

export type AdmissionOutcome = 'admitted' | 'stale' | 'key_state' | 'account_state' | 'owed' | ShortFunds;

/** State of the wallet, or of the key or budget that lacks money. */
export interface FundsLeft {
  /** Available when the call arrived; for an account in debt, minus the debt. */
  readonly free: bigint;
  /** Held by running calls. */
  readonly onHold: bigint;
  /** Number of running calls with a hold on the wallet. */
  readonly holds: number;
  /** The budget that lacks money. */
  readonly period?: BudgetPeriod;
}

/** The decision about one call. */
export interface AdmissionResult extends FundsLeft {
  readonly outcome: AdmissionOutcome;
  readonly hold: bigint;
}

const SHORT: ReadonlySet<string> = new Set(['wallet', 'key', 'budget', 'member', 'team'] satisfies ShortFunds[]);

/** Whether the wallet or a budget does not have enough. */
export const isShort = ({ outcome }: AdmissionResult): boolean => SHORT.has(outcome);

/** Requests a larger hold for a running call. */
export interface ExtensionRequest {
  /** The call as admitted, in case the database lost its row. */
  readonly admission: AdmissionRequest;
  /** The hold as the process knows it. */
  readonly held: bigint;
  /** The requested increase. Idempotent for the same `held`. */
  readonly want: bigint;
}

/** Fields of the composite type `extension`, in order. */
export const EXTENSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'held',
  'want',
] as const satisfies readonly (keyof AdmissionRequest | 'held' | 'want')[];

/** 'closed': the call was settled or swept. */
export type ExtensionOutcome = 'extended' | 'closed' | 'key_state' | 'account_state' | 'owed' | ShortFunds;

export interface ExtensionResult extends FundsLeft {
  readonly outcome: ExtensionOutcome;
  /** The increase, possibly less than requested; 0 unless 'extended'. */
  readonly granted: bigint;
}

/** Max wait for money held by running calls, in ms. */
const MAX_WAIT_MS = 5000;
/** Interval between retries, in ms: calls of other processes release money without a wake-up. */
const POLL_MS = 250;
/** Max calls waiting per wallet or key; further ones are rejected. */
const MAX_WAITING = 64;

/** Calls waiting for the money of one wallet or key, in order of arrival. */
interface Queue {
  readonly waiting: (() => void)[];
  /** Called when money was released. */
  wake: () => void;
}

/**
 * Queues calls whose wallet or key could pay for each but not for all at once. A call waits for running calls to
 * release their holds, up to `MAX_WAIT_MS` and without a lock or hold; then it is rejected.
 */
export class FundsQueue {
  private readonly queues = new Map<string, Queue>();
  private isClosed = false;

  /** @param place asks the database */
  constructor(private readonly place: (request: AdmissionRequest) => Promise<AdmissionResult>) {}

  /** The result of admission, immediately or after waiting. @throws errors of `place` */
  async admit(request: AdmissionRequest): Promise<AdmissionResult> {
    const ahead = this.queues.size === 0 ? undefined : this.queueAhead(request);
    if (ahead !== undefined) return this.wait(ahead, request);
    const result = await this.place(request);
    return isPassing(result, request) ? this.wait(shortOf(result, request), request, result) : result;
  }

  /** Retries the first waiting call of the account and of the key, after one of their calls has ended. */
  wake(accountId: string, keyId: string): void {
    if (this.queues.size === 0) return;
    this.queues.get(accountId)?.wake();
    this.queues.get(keyId)?.wake();
  }

  /** Lets all waiting calls try once more. */
  close(): void {
    this.isClosed = true;
    for (const queue of this.queues.values()) {
      queue.wake();
      for (const next of queue.waiting) next();
    }
  }

  private queueAhead({ account_id, key_id }: AdmissionRequest): string | undefined {
    return [account_id, key_id].find((name) => this.queues.has(name));
  }

  private async wait(name: string, request: AdmissionRequest, refused?: AdmissionResult): Promise<AdmissionResult> {
    const queue = this.queueOf(name);
    if (this.isClosed || queue.waiting.length >= MAX_WAITING) return refused ?? this.place(request);
    const untilMs = performance.now() + MAX_WAIT_MS;
    const isFirst = queue.waiting.length === 0;
    let turn: () => void = () => undefined;
    const turned = new Promise<void>((resolve) => (turn = resolve));
    queue.waiting.push(turn);
    try {
      // The call before it has just left, so it tries immediately.
      if (isFirst && refused !== undefined) await nextWake(queue, untilMs);
      else if (!isFirst) await Promise.race([turned, elapsed(untilMs - performance.now())]);
      return await this.retry(queue, request, untilMs);
    } finally {
      queue.waiting.splice(queue.waiting.indexOf(turn), 1);
      if (queue.waiting.length === 0) this.queues.delete(name);
      else queue.waiting[0]?.();
    }
  }

  private async retry(queue: Queue, request: AdmissionRequest, untilMs: number): Promise<AdmissionResult> {
    for (;;) {
      const result = await this.place(request);
      if (this.isClosed || !isPassing(result, request) || performance.now() >= untilMs) return result;
      await nextWake(queue, untilMs);
    }
  }

  private queueOf(name: string): Queue {
    const known = this.queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { waiting: [], wake: () => undefined };
    this.queues.set(name, queue);
    return queue;
  }
}

/** Whether only running calls are in the way. */
const isPassing = (result: AdmissionResult, { minimum }: AdmissionRequest): boolean =>
  isShort(result) && result.onHold > 0n && result.free + result.onHold >= BigInt(minimum);

/** The queue of a call that lacks money. A member's keys do not wait for each other: they poll. */
const shortOf = ({ outcome }: AdmissionResult, { account_id, key_id }: AdmissionRequest): string =>
  outcome === 'wallet' ? account_id : key_id;

function nextWake(queue: Queue, untilMs: number): Promise<void> {
  const woken = new Promise<void>((resolve) => (queue.wake = resolve));
  return Promise.race([woken, elapsed(Math.min(POLL_MS, untilMs - performance.now()))]);
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());

/** How long the latest admission counts as evidence, in ms. */
const RECENT_MS = 2000;
/** Failed batches in a row that count as an outage; fewer are decided by a probe. */
const MAX_FAILURES = 3;
const PROBE_MS = 1000;
/** How long the result of a probe is used, in ms: the endpoint is public. */
const PROBE_LIFETIME_MS = 1000;

/** The write of an admission, rolled back: without connections or disk space, or on a read-only server, both fail. */
const PROBE = `
  DO $$ BEGIN
    INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream, effort,
      ip, snapshot)
    VALUES ('probe_' || gen_random_uuid(), '', '', 0, '', '', now(), '', '', false, '', '', '{}');
    RAISE EXCEPTION USING ERRCODE = 'SWPRB';
  EXCEPTION WHEN SQLSTATE 'SWPRB' THEN NULL;
  END $$`;

/** Whether calls can be admitted: as the latest admissions show, else by a write that is rolled back. */
@Injectable()
export class AdmissionHealth {
  private failures = 0;
  private latestMs = -Infinity;
  private probe = { atMs: -Infinity, result: Promise.resolve(false) };

  constructor(private readonly pools: DatabasePools) {}

  /** The batch was processed, whatever its results. */
  noteSuccess(): void {
    this.failures = 0;
    this.latestMs = monotonicMs();
  }

  /** The batch failed because of the database. */
  noteFailure(): void {
    this.failures += 1;
    this.latestMs = monotonicMs();
  }

  /** Never rejects; takes a second at most. */
  async check(): Promise<boolean> {
    const nowMs = monotonicMs();
    if (nowMs - this.latestMs < RECENT_MS) {
      if (this.failures === 0) return true;
      if (this.failures >= MAX_FAILURES) return false;
    }
    if (nowMs - this.probe.atMs >= PROBE_LIFETIME_MS) this.probe = { atMs: nowMs, result: this.canWrite() };
    return this.probe.result;
  }

  private async canWrite(): Promise<boolean> {
    const written = this.pools.admission.query(PROBE).then(
      () => true,
      () => false,
    );
    return (await within(written, PROBE_MS)) ?? false;
  }
}
