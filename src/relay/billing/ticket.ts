import type { Caller } from '../../keys/index.js';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import {
  type Call,
  type CallSignal,
  isFinalReport,
  type PromptSample,
  type TextPlaces,
  type TokenUsage,
  type Waits,
} from '../../protocols/contract/index.js';
import type { CountedTokens } from '../../protocols/tokens/index.js';
import { AttemptLog, type AttemptTarget } from './attempt-log.js';
import { AdmissionUnavailable, OutOfCredit, SettlementUnavailable } from './billing.errors.js';
import { type Ending, isPartial, type Progress } from './charge.js';
import { type Credit, promptByCount } from './hold.js';
import { OutputCount, type UncountedOutput } from './output-count.js';
import type { BillingPlan } from './plan.js';
import type { PriceSnapshot } from './price.js';
import { boundedUsage, isBelievable, type UsageBounds } from './usage-check.js';

const SUCCEEDED: Ending = { status: 'succeeded' };

/** The grant of admission. */
export interface Admission {
  readonly plan: BillingPlan;
  /** Prices at admission, for the row. */
  readonly snapshot: PriceSnapshot;
  /** Output limit per choice to send upstream because the call's own is not affordable. */
  readonly outputLimit: number | undefined;
  /** Max possible usage, for judging reports. */
  readonly bounds: UsageBounds;
  /** Extends the hold of a stream; undefined for an unstreamed call, which is held as a whole. */
  readonly credit: Credit | undefined;
}

/** Arrival of a call (monotonic) and what it waits for. */
export interface CallTimes {
  readonly startedMs: number;
  readonly waits: Waits;
}

/** Creates the plan of a call from the current catalog and caller. @throws AppError when the call is not possible */
export type Planner = (caller: Caller) => BillingPlan;

/** Input for counting a prompt. */
export type CountablePrompt = Buffer | PromptSample;

/**
 * Work for the billing service, in batches. An interface, so that tickets do not depend on the service that creates
 * them.
 */
export interface BillingPort {
  admit(ticket: Ticket, plan: Planner): Promise<Admission>;
  /** Tokens of prompt and output; undefined if they cannot be counted in time. */
  count(
    ticket: Ticket,
    prompt: CountablePrompt | undefined,
    output: UncountedOutput['content'],
  ): Promise<CountedTokens | undefined>;
  /** @param endedMs monotonic */
  settle(ticket: Ticket, ending: Ending, endedMs: number): Promise<void>;
  giveUp(ticket: Ticket): void;
}

/**
 * The billing of one call: new → admitting → open → settled. The first settlement decides the outcome; later ones have
 * no effect. It ends exactly once.
 */
export class Ticket {
  /** Arrival, monotonic. */
  readonly startedMs: number;
  /** Why the response waits. */
  readonly waits: Waits;
  /** Upstream requests, in order. */
  readonly attempts: AttemptLog[] = [];
  /** Ms from arrival to the first content. */
  firstTokenMs: number | undefined;
  /** When the hold was requested and how long that took; undefined before. */
  holding: { readonly atMs: number; readonly tookMs: number } | undefined;
  private granted: Admission | undefined;
  private mayHoldMoney = false;
  /** The latest report, and its plausible part. */
  private reportedUsage: TokenUsage | undefined;
  private usage: TokenUsage | undefined;
  private isProvisional = false;
  /** Visible output units of the current attempt. */
  private meteredUnits: number | undefined;
  private output = new OutputCount(0, 0);
  /** Counted prompt tokens. */
  private countedPrompt: number | undefined;
  private begun = false;
  /** The prompt when the client left, kept until settlement. */
  private abandonedPrompt: CountablePrompt | undefined;
  private admitting: Promise<Admission> | undefined;
  private settling: Promise<void> | undefined;

  constructor(
    readonly call: Call,
    readonly caller: Caller,
    private readonly billing: BillingPort,
    times: CallTimes,
    /** Where the prompt's text is. */
    readonly places?: TextPlaces,
  ) {
    this.startedMs = times.startedMs;
    this.waits = times.waits;
  }

  /** The latest report as written. */
  get reported(): TokenUsage | undefined {
    return this.reportedUsage;
  }

  /** Undefined before admission and after a rejection. */
  get admission(): Admission | undefined {
    return this.granted;
  }

  /** Duration of admission in ms. */
  get admitMs(): number {
    return this.holding?.tookMs ?? 0;
  }

  /** True from requesting a hold until it is certainly rejected: settlement must look for a hold to release. */
  get mayHold(): boolean {
    return this.mayHoldMoney;
  }

  /**
   * Places the hold. `plan` is called again if catalog or key changed meanwhile.
   * @throws AppError when the call is rejected, which must still be settled, like every ending
   */
  admit(plan: Planner): Promise<Admission> {
    const begunMs = monotonicMs();
    const noteHold = (): void => {
      this.holding = { atMs: begunMs - this.startedMs, tookMs: monotonicMs() - begunMs };
    };
    this.mayHoldMoney = true;
    this.admitting = this.billing.admit(this, plan).then(
      (admission) => {
        noteHold();
        this.granted = admission;
        const { credit, plan: granted } = admission;
        const hiddenPerSecond = credit === undefined ? 0 : granted.model.hiddenTokensPerSecond;
        this.output = new OutputCount(hiddenPerSecond, credit?.bound ?? 0, true);
        return admission;
      },
      (error: unknown) => {
        noteHold();
        // Without a response it is unknown whether the hold was placed.
        this.mayHoldMoney = error instanceof AdmissionUnavailable;
        throw error;
      },
    );
    return this.admitting;
  }

  /**
   * Starts the record of an upstream request, which the caller maintains. Output of an earlier attempt is discarded.
   * @param pass usage of the earlier attempt if it was a pass of this response, and is charged with it
   */
  beginAttempt(target: AttemptTarget, pass?: TokenUsage): AttemptLog {
    const attempt = new AttemptLog(this.call, this.attempts.length + 1, target, monotonicMs() - this.startedMs);
    attempt.followsPass = pass !== undefined;
    const previous = this.attempts.at(-1);
    if (previous !== undefined && !this.isProvisional) previous.usage = this.reportedUsage;
    this.reportedUsage = this.usage = this.meteredUnits = undefined;
    if (pass !== undefined) this.noteOne({ type: 'usage', usage: pass, isProvisional: true });
    this.output.restart();
    attempt.onResponse = () => this.output.begin(monotonicMs());
    this.attempts.push(attempt);
    return attempt;
  }

  /** No part of a response has arrived yet. */
  get silent(): boolean {
    return !this.begun;
  }

  /** Whether the whole prompt was sent and not rejected. */
  get promptSent(): boolean {
    return this.attempts.at(-1)?.isPromptSpent ?? false;
  }

  /** Whether all output so far is paid for. Requests extensions of the hold ahead. */
  coversOutput(): boolean {
    const credit = this.granted?.credit;
    return credit === undefined || credit.covers(this.output.total(monotonicMs));
  }

  /** Resolves when it is. @throws OutOfCredit when it cannot be, according to a tokenizer's count */
  async untilCovered(): Promise<void> {
    const credit = this.granted?.credit;
    // More output may arrive meanwhile.
    while (!this.coversOutput()) {
      // An estimate beyond the limit is verified by counting before anything is held for it.
      const isDoubtful = credit !== undefined && this.output.total(monotonicMs) > credit.bound;
      if (isDoubtful && (await this.recount())) continue;
      try {
        await credit?.untilCovered(this.output.total(monotonicMs));
      } catch (error) {
        if (!(error instanceof OutOfCredit) || !(await this.recount())) throw error;
      }
    }
  }

  private get isPromptKnown(): boolean {
    return (this.usage?.input ?? 0) > 0 || this.countedPrompt !== undefined;
  }

  private get prompt(): CountablePrompt | undefined {
    return this.abandonedPrompt ?? this.call.body.countable;
  }

  /** Replaces estimates by a tokenizer's count. @returns false if there is nothing to count, or counting failed */
  private async recount(): Promise<boolean> {
    const prompt = this.isPromptKnown ? undefined : this.prompt;
    const uncounted = this.output.takeUncounted();
    if (prompt === undefined && uncounted === undefined) return false;
    const tokens = await this.billing.count(this, prompt, uncounted?.content ?? []);
    if (tokens !== undefined) this.noteCount(tokens, prompt !== undefined, uncounted);
    return tokens !== undefined;
  }

  private noteCount(
    { prompt, output }: CountedTokens,
    hasPrompt: boolean,
    uncounted: UncountedOutput | undefined,
  ): void {
    uncounted?.replaceBy(output);
    if (!hasPrompt) return;
    this.countedPrompt = prompt;
    const { head } = this.call;
    const { plan, credit } = this.granted ?? {};
    // Content outside the body is not counted.
    const isWhole = head.outside === undefined || plan?.continuedTokens !== undefined;
    if (plan !== undefined && isWhole) credit?.count(promptByCount(head, plan, prompt));
  }

  /** Processes signals of a frame: first content, output, usage. */
  note(signals: readonly CallSignal[]): void {
    for (const signal of signals) this.noteOne(signal);
  }

  /** Settles a successful call. @throws SettlementUnavailable when it could not be recorded in time */
  succeed(): Promise<void> {
    return this.settle(SUCCEEDED);
  }

  /**
   * Stops waiting for the settlement of a success, which then fails and is charged as a failure unless already sent.
   */
  giveUp(): void {
    this.billing.giveUp(this);
  }

  /** Settles a failed call before its error is sent. Failures before admission are rejections. */
  async fail(failure: AppError): Promise<void> {
    const settled = this.settle({ status: this.granted === undefined ? 'refused' : 'failed', error: failure });
    // During an outage the row waits, the client need not.
    if (failure instanceof AdmissionUnavailable || failure instanceof SettlementUnavailable)
      settled.catch(() => undefined);
    else await settled;
  }

  /**
   * Called on unsubscription. No effect if the call has ended; otherwise the client has left, and a hold in progress is
   * awaited so that it cannot leak.
   */
  abandon(): void {
    if (this.settling !== undefined) return;
    this.abandonedPrompt = this.call.body.countable;
    const canceled = new AppError('context_canceled', 'context canceled: the client closed the connection.');
    void Promise.allSettled([this.admitting])
      .then(() => this.settle({ status: 'cancelled', error: canceled }))
      // The queue has logged it and keeps trying; there is no client.
      .catch(() => undefined);
  }

  /** The response as received so far. */
  progress(): Omit<Progress, 'promptSent' | 'bounds'> & { readonly begun: boolean } {
    return {
      usage: this.usage,
      reported: this.reportedUsage,
      isProvisional: this.isProvisional,
      countedPrompt: this.countedPrompt,
      outputTokens: this.output.total(monotonicMs),
      visibleTokens: this.output.shown,
      // Unstreamed verbatim responses are only metered if their report is in doubt.
      meteredTokens: this.meteredUnits ?? (this.call.head.stream ? 0 : undefined),
      begun: this.begun,
    };
  }

  private noteOne(signal: CallSignal): void {
    switch (signal.type) {
      case 'content':
        this.show();
        break;
      case 'output':
        this.meteredUnits = (this.meteredUnits ?? 0) + signal.units;
        this.output.estimate(signal.units, signal.text, signal.lane);
        break;
      case 'usage':
        this.reportedUsage = signal.usage;
        this.isProvisional = !isFinalReport(signal);
        this.report(this.plausible(signal.usage));
        break;
      case 'whole':
        this.output.setBody(signal.bytes);
        break;
      case 'state':
        break;
      default:
        signal satisfies never;
    }
  }

  /** The plausible part of a report. A provisional one cannot contain the output. */
  private plausible(report: TokenUsage): TokenUsage {
    const usage = this.granted === undefined ? report : boundedUsage(report, this.granted.bounds, this.meteredUnits);
    return this.isProvisional ? { ...usage, output: 0, reasoning: 0 } : usage;
  }

  private report(usage: TokenUsage): void {
    this.usage = usage;
    this.output.report(usage, monotonicMs());
    this.granted?.credit?.report(usage);
  }

  private show(): void {
    const nowMs = monotonicMs();
    this.begun = true;
    this.firstTokenMs ??= nowMs - this.startedMs;
    this.output.show(nowMs);
  }

  private settle(ending: Ending): Promise<void> {
    this.settling ??= this.settleCounted(ending);
    return this.settling;
  }

  private isChargedByCount(ending: Ending): boolean {
    if (this.granted === undefined) return false;
    if (ending.status !== 'succeeded') return isPartial(ending, this);
    const { reportedUsage, isProvisional, meteredUnits, granted } = this;
    return reportedUsage === undefined || isProvisional || !isBelievable(reportedUsage, granted.bounds, meteredUnits);
  }

  /** Counts first if the charge depends on it. Output that arrives meanwhile is not charged. */
  private settleCounted(ending: Ending): Promise<void> {
    const endedMs = monotonicMs();
    this.output.show(endedMs);
    const settled = (): Promise<void> => this.billing.settle(this, ending, endedMs);
    return this.isChargedByCount(ending) ? this.recount().then(settled) : settled();
  }
}
