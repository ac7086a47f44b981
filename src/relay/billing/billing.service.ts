import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CatalogService } from '../../catalog/index.js';
import { type Caller, KeyAuthenticator } from '../../keys/index.js';
import { Batcher, isOutage } from '../../platform/database/index.js';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import type { Call, TextPlaces, TokenUsage } from '../../protocols/contract/index.js';
import { type CountedTokens, type CountRequest, TokenCounter } from '../../protocols/tokens/index.js';
import {
  FundsQueue,
  type AdmissionRequest,
  type AdmissionResult,
  type ExtensionRequest,
  type ExtensionResult,
  isShort,
} from './admission.js';
import { AdmissionOutdated, AdmissionUnavailable, refusalOf, TooManyUnsettled } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import { finishedRow, type RefusedCall, refusedRow, sharedRow } from './call-row.js';
import type { Ending } from './charge.js';
import { affordableOutput, Credit, type CreditLine, creditLine, promptByCount } from './hold.js';
import { admissionRequest, type BillingPlan } from './plan.js';
import { InFlight, SettlementQueue } from './settlement-queue.js';
import { CurrentProcess } from './sweeper/presence.js';
import {
  type Admission,
  type BillingPort,
  type CallTimes,
  type CountablePrompt,
  type Planner,
  Ticket,
} from './ticket.js';
import { usageBounds } from './usage-check.js';

/** Margin on counted prompts: vendors' tokenizers differ from ours. */
const COUNT_MARGIN = 1.1;
/** Calls that cannot pay this share of the bound are rejected without counting: real counts are rarely lower. */
const MIN_COUNTED_SHARE = 8n;
/** Max delay of an error for recording it, in ms. */
const FAILURE_TIMEOUT_MS = 1500;

/** Creates a ticket per call; admits and settles in batches. */
@Injectable()
export class BillingService implements BillingPort, OnModuleDestroy {
  private readonly admissions: Batcher<AdmissionRequest, AdmissionResult>;
  private readonly extensions: Batcher<ExtensionRequest, ExtensionResult>;
  private readonly admitting = new InFlight();
  /** Token counts that settlements wait for. */
  private readonly counting = new InFlight();
  private readonly fundsQueue = new FundsQueue((request) => this.place(request));
  private readonly conversations = new ConversationTokenCache();
  private unsettledCalls = 0;

  constructor(
    repository: BillingRepository,
    private readonly settlements: SettlementQueue,
    private readonly catalog: CatalogService,
    private readonly keys: KeyAuthenticator,
    private readonly self: CurrentProcess,
    private readonly counter: TokenCounter,
  ) {
    // During an outage all inputs fail alike; retrying each would add up their timeouts.
    this.admissions = new Batcher((batch: readonly AdmissionRequest[]) => repository.admit(batch), {
      retryAlone: (error) => !isOutage(error),
    });
    this.extensions = new Batcher((batch: readonly ExtensionRequest[]) => repository.extend(batch), {
      retryAlone: (error) => !isOutage(error),
    });
  }

  /** Whether admission is closed because too many calls wait for settlement. */
  get full(): boolean {
    return this.settlements.full;
  }

  /** How long the next calls to be admitted have waited, in ms. */
  get admissionDelayMs(): number {
    return this.admissions.waitMs;
  }

  /** Unsettled calls when the service was closed. */
  get unsettled(): number {
    return this.unsettledCalls;
  }

  /** Holds in progress first: their calls may have been abandoned and are settled afterwards. */
  async onModuleDestroy(): Promise<void> {
    this.fundsQueue.close();
    await this.admitting.over();
    await nextTurn();
    await this.counting.over();
    this.unsettledCalls = await this.settlements.close();
  }

  /** @param places where the prompt's text is */
  open(call: Call, caller: Caller, times: CallTimes, places?: TextPlaces): Ticket {
    return new Ticket(call, caller, this, times, places);
  }

  /** For a call that shares another call's response, which is charged for it: leaves a free row. */
  openShared(call: Call, caller: Caller, times: CallTimes, sharedWith: string): Ticket {
    const settle = (ticket: Ticket, ending: Ending): Promise<void> => this.settleShared(ticket, ending, sharedWith);
    const admit = (): Promise<never> => Promise.reject(new TypeError('Not admitted.'));
    const count = (): Promise<undefined> => Promise.resolve(undefined);
    return new Ticket(call, caller, { admit, count, settle, giveUp: (ticket) => this.giveUp(ticket) }, times);
  }

  /**
   * Records a call that was rejected before or because of its body. Never rejects: without a database the row waits,
   * and the client gets its error anyway.
   */
  async refuse(refused: RefusedCall, error: AppError): Promise<void> {
    const row = refusedRow(refused, error, sinceMs(refused.startedMs));
    await this.settlements
      .enqueue(row, { error, timeoutMs: FAILURE_TIMEOUT_MS, trace: refused.trace })
      .catch(() => undefined);
  }

  /**
   * @throws InsufficientQuota, AccountOwes, AdmissionUnavailable, TooManyUnsettled, RefusedKey, RefusedAddress, and
   * errors of the planner
   */
  admit(ticket: Ticket, plan: Planner): Promise<Admission> {
    if (this.full) return Promise.reject(new TooManyUnsettled());
    return this.admitting.add(this.untilAdmitted(ticket, plan));
  }

  count(
    { places }: Ticket,
    prompt: CountablePrompt | undefined,
    output: CountRequest['response'],
  ): Promise<CountedTokens | undefined> {
    if (places === undefined) return Promise.resolve(undefined);
    return this.counting.add(this.counter.count({ prompt, response: output, places }));
  }

  /**
   * Writes the finished row. Failures wait only briefly for it; the end of a success waits until it is written.
   * @throws SettlementUnavailable when a success was not recorded in time
   */
  async settle(ticket: Ticket, ending: Ending, endedMs = monotonicMs()): Promise<void> {
    const { usage } = ticket.progress();
    if (usage !== undefined && ending.status === 'succeeded') this.conversations.note(ticket.caller.accountId, usage);
    const row = finishedRow(ticket, ending, Math.round(endedMs - ticket.startedMs));
    const { trace } = ticket.call;
    try {
      if (ending.status === 'succeeded') await this.settlements.enqueue(row, { trace });
      else
        await this.settlements
          .enqueue(row, { error: ending.error, timeoutMs: FAILURE_TIMEOUT_MS, trace })
          .catch(() => undefined);
    } finally {
      if (ticket.admission !== undefined) this.fundsQueue.wake(row.account_id, row.key_id);
    }
  }

  /** Fails a success that waits for settlement, as if its timeout had passed. */
  giveUp({ call }: Ticket): void {
    this.settlements.giveUp(call.id);
  }

  private async settleShared(ticket: Ticket, ending: Ending, sharedWith: string): Promise<void> {
    const row = sharedRow(ticket, ending, sinceMs(ticket.startedMs), sharedWith);
    const { trace } = ticket.call;
    if (ending.status === 'succeeded') await this.settlements.enqueue(row, { trace });
    else await this.settlements.enqueue(row, { timeoutMs: FAILURE_TIMEOUT_MS, trace }).catch(() => undefined);
  }

  private async untilAdmitted(ticket: Ticket, plan: Planner): Promise<Admission> {
    const { call, caller } = ticket;
    let current = this.continued(call, plan(caller));
    let counted: number | undefined;
    let isRenewed = false;
    for (;;) {
      const admission = admissionRequest(call, current, this.self.id, counted);
      const result = await this.fundsQueue.admit(admission.request);
      if (result.outcome === 'admitted') return this.admitted(call, current, admission, result.hold);
      const { hold } = admission;
      if (counted === undefined && isShort(result) && mayFit(result, admission)) {
        counted = await this.countPrompt(ticket, current);
        if (counted !== undefined) continue;
      }
      const refusal = refusalOf(result, hold.minimum, current.caller);
      if (refusal !== undefined) throw refusal;
      // Key or catalog changed since they were read: reload both, once.
      if (isRenewed) throw new AdmissionOutdated();
      isRenewed = true;
      const [renewed] = await Promise.all([this.keys.renew(caller, call.ip), this.catalog.reload().catch(unavailable)]);
      current = this.continued(call, plan(renewed));
    }
  }

  private admitted(
    call: Call,
    plan: BillingPlan,
    { request, terms, hold, beside }: ReturnType<typeof admissionRequest>,
    granted: bigint,
  ): Admission {
    const { head } = call;
    const outputLimit = affordableOutput(head, plan.model, terms, { granted, ceiling: hold.ceiling }, beside);
    const isOfMember = plan.caller.memberId !== null;
    const line = creditLine(head, plan.model, { terms, ...beside, held: granted, outputLimit, isOfMember });
    const bounds = usageBounds(head, plan, outputLimit);
    const credit = line && this.credit(line, request);
    return { plan, snapshot: request.snapshot, outputLimit, bounds, credit };
  }

  /** The real prompt size of a call that its bound would reject; undefined if it cannot be counted. */
  private async countPrompt(ticket: Ticket, plan: BillingPlan): Promise<number | undefined> {
    const { head, body } = ticket.call;
    if (head.outside !== undefined && plan.continuedTokens === undefined) return undefined;
    const tokens = await this.count(ticket, body.countable, []);
    return tokens && promptByCount(head, plan, Math.ceil(tokens.prompt * COUNT_MARGIN));
  }

  /** Adds what is known of the continued conversation to the plan. */
  private continued({ head: { outside } }: Call, plan: BillingPlan): BillingPlan {
    const continuedTokens = outside && this.conversations.tokensOf(plan.caller.accountId, outside.previousResponseId);
    return continuedTokens === undefined ? plan : { ...plan, continuedTokens };
  }

  private credit(line: CreditLine, admission: AdmissionRequest): Credit {
    return new Credit(line, (held, want) => this.extensions.submit({ admission, held, want }).catch(unavailable));
  }

  private place(request: AdmissionRequest): Promise<AdmissionResult> {
    return this.admissions.submit(request).catch(unavailable);
  }
}

/** Whether the call could be affordable if its prompt were much smaller than its bound. */
function mayFit(
  { free, onHold }: AdmissionResult,
  { hold }: Pick<ReturnType<typeof admissionRequest>, 'hold'>,
): boolean {
  return hold.minimum - hold.prompt + hold.prompt / MIN_COUNTED_SHARE <= free + onHold;
}

function unavailable(cause: unknown): never {
  throw new AdmissionUnavailable(cause);
}

const sinceMs = (startedMs: number): number => Math.round(monotonicMs() - startedMs);

const MAX_RESPONSES = 10_000;

/**
 * Token counts of conversations by the upstream ID of their last response: the known part of a continuing prompt. Per
 * account, so that IDs reveal nothing to others, and only for recent responses: unknown conversations are held at the
 * context window.
 */
export class ConversationTokenCache {
  private readonly tokens = new Map<string, number>();

  note(accountId: string, { responseId, input, output }: TokenUsage): void {
    if (responseId === undefined) return;
    const name = nameOf(accountId, responseId);
    // Re-inserted as the most recent.
    this.tokens.delete(name);
    this.tokens.set(name, input + output);
    if (this.tokens.size > MAX_RESPONSES)
      for (const oldest of this.tokens.keys()) return void this.tokens.delete(oldest);
  }

  tokensOf(accountId: string, responseId: string | undefined): number | undefined {
    return responseId === undefined ? undefined : this.tokens.get(nameOf(accountId, responseId));
  }
}

const nameOf = (accountId: string, responseId: string): string => `${accountId} ${responseId}`;
