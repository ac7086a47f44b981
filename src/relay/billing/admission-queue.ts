import { Injectable } from '@nestjs/common';
import type { AppError } from '../../platform/shared/index.js';
import { type AdmissionRequest, type AdmissionResult, isShort } from './admission.js';
import { AccountOwes, AdmissionOutdated, AdmissionUnavailable, InsufficientQuota } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import type { HoldRequest } from './hold.js';
import { admissionRequest, type BillingPlan, type CallToAdmit } from './plan.js';
import { CurrentProcess } from './sweeper/presence.js';

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
export class AdmissionQueue {
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

/** The account or key that lacks money. */
const shortOf = ({ outcome }: AdmissionResult, { account_id, key_id }: AdmissionRequest): string =>
  outcome === 'wallet' ? account_id : key_id;

function nextWake(queue: Queue, untilMs: number): Promise<void> {
  const woken = new Promise<void>((resolve) => (queue.wake = resolve));
  return Promise.race([woken, elapsed(Math.min(POLL_MS, untilMs - performance.now()))]);
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());

/**
 * The error for a call without enough money; undefined if it is admitted, or if key or catalog must be reloaded.
 * @param minimum required nanos
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

/** Result of a trial admission. Amounts in nanos. */
export interface AdmissionTrialResult {
  /** The requested hold. */
  readonly asked: HoldRequest;
  /** Hold and free amount of the wallet, or of the key or budget that lacks money. */
  readonly result: AdmissionResult;
  readonly refusal: AppError | undefined;
}

/** Runs admission without effect: nothing is held or recorded. */
@Injectable()
export class AdmissionTrial {
  constructor(
    private readonly repository: BillingRepository,
    private readonly self: CurrentProcess,
  ) {}

  /**
   * @param isNewKey the caller's key is not stored
   * @throws AdmissionUnavailable when the database does not respond
   */
  async of(call: CallToAdmit, plan: BillingPlan, isNewKey: boolean): Promise<AdmissionTrialResult> {
    const { request, hold } = admissionRequest(call, plan, this.self.id);
    const result = await this.repository.tryAdmission(request, isNewKey).catch((cause: unknown) => {
      throw new AdmissionUnavailable(cause);
    });
    const refusal =
      result.outcome === 'stale' ? new AdmissionOutdated() : refusalOf(result, hold.minimum, plan.caller.keyName);
    return { asked: hold, result, refusal };
  }
}
