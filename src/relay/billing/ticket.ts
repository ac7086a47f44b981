import {
  type Call,
  type CallSignal,
  isFinalReport,
  type PromptSample,
  type TextPlaces,
  type TokenUsage,
  type Waits,
} from '../../protocols/contract/index.js';
import type { Caller } from '../../keys/index.js';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import type { CountedTokens } from '../../protocols/tokens/index.js';
import { AttemptLog, type AttemptTarget } from './attempt-log.js';
import { AdmissionUnavailable, OutOfCredit, SettlementUnavailable } from './billing.errors.js';
import type { Credit } from './credit.js';
import { type Ending, isPartial, type Progress } from './ending.js';
import { promptByCount } from './hold.js';
import { OutputCount, type Uncounted } from './output-count.js';
import type { BillingPlan } from './plan.js';
import type { PriceSnapshot } from './price-snapshot.js';
import { boundedUsage, isBelievable, type UsageBounds } from './usage-check.js';

const SUCCEEDED: Ending = { status: 'succeeded' };

/** What admission granted. */
export interface Admission {
  readonly plan: BillingPlan;
  /** The prices that the call was admitted under, as its row will show them. */
  readonly snapshot: PriceSnapshot;
  /** The output limit, for each answer, that must go upstream because wallet or key cannot cover the call's own bound. */
  readonly outputLimit: number | undefined;
  /** The most that the call can use, by which reports of it are judged. */
  readonly bounds: UsageBounds;
  /** Raises the hold while the answer comes; undefined for an unstreamed one, which is held for as a whole. */
  readonly credit: Credit | undefined;
}

/** When a call arrived, by the monotonic clock, and what it waits for since. */
export interface CallTimes {
  readonly startedMs: number;
  readonly waits: Waits;
}

/** Makes the plan of a call from the catalog as it stands and the caller as it is now. @throws AppError when there is none */
export type Planner = (caller: Caller) => BillingPlan;

/** What a prompt can be counted by. */
export type CountablePrompt = Buffer | PromptSample;

/**
 * What a ticket needs done: by the billing service, in batches with all other calls. Named here so that a ticket does not
 * know the service that makes it.
 */
export interface BillingPort {
  admit(ticket: Ticket, plan: Planner): Promise<Admission>;
  /** Tokens of the prompt and of what was said; undefined when they cannot be counted in time. */
  count(
    ticket: Ticket,
    prompt: CountablePrompt | undefined,
    said: Uncounted['said'],
  ): Promise<CountedTokens | undefined>;
  /** @param endedMs by the monotonic clock */
  settle(ticket: Ticket, ending: Ending, endedMs: number): Promise<void>;
  giveUp(ticket: Ticket): void;
}

/**
 * One call's way through billing: new → admitting → open → settled. The outcome is fixed by whoever settles first;
 * everything later changes nothing. It ends exactly once, whatever happens and whoever leaves.
 */
export class Ticket {
  /** When the call arrived, by the monotonic clock. */
  readonly startedMs: number;
  /** What its answer stands still for. */
  readonly waits: Waits;
  /** Requests that went to upstreams, in order. */
  readonly attempts: AttemptLog[] = [];
  /** Milliseconds from the call's arrival to the first content that left for the client. */
  firstTokenMs: number | undefined;
  /** When its hold was asked for, and how long that took, refused or not; undefined before. */
  holding: { readonly atMs: number; readonly tookMs: number } | undefined;
  private granted: Admission | undefined;
  private mayHoldMoney = false;
  /** The upstream's latest report, and as much of it as can be true. */
  private told: TokenUsage | undefined;
  private usage: TokenUsage | undefined;
  private isProvisional = false;
  /** Units of output that were seen of this attempt's answer. */
  private seen: number | undefined;
  private output = new OutputCount(0, 0);
  /** Tokens of the prompt, where it was counted. */
  private countedPrompt: number | undefined;
  private begun = false;
  /** The prompt as it was when the client left, kept until the call is settled. */
  private leftPrompt: CountablePrompt | undefined;
  private admitting: Promise<Admission> | undefined;
  private settling: Promise<void> | undefined;

  constructor(
    readonly call: Call,
    readonly caller: Caller,
    private readonly desk: BillingPort,
    times: CallTimes,
    /** Where the words of its prompt stand. */
    readonly places?: TextPlaces,
  ) {
    this.startedMs = times.startedMs;
    this.waits = times.waits;
  }

  /** What the upstream has reported last, as it was written. */
  get reported(): TokenUsage | undefined {
    return this.told;
  }

  /** What admission granted; undefined before, and when it refused. */
  get admission(): Admission | undefined {
    return this.granted;
  }

  /** Milliseconds that admission took. */
  get admitMs(): number {
    return this.holding?.tookMs ?? 0;
  }

  /** True from when a hold is asked for until it is surely refused: its settlement must look for a hold to release. */
  get mayHold(): boolean {
    return this.mayHoldMoney;
  }

  /**
   * Places the hold. `plan` is asked again when the catalog or the key had changed meanwhile.
   * @throws AppError when the call is refused; the refusal must still be settled, as every ending
   */
  admit(plan: Planner): Promise<Admission> {
    const begunMs = monotonicMs();
    const answered = (): void => {
      this.holding = { atMs: begunMs - this.startedMs, tookMs: monotonicMs() - begunMs };
    };
    this.mayHoldMoney = true;
    this.admitting = this.desk.admit(this, plan).then(
      (admission) => {
        answered();
        this.granted = admission;
        const { credit, plan: granted } = admission;
        const hiddenPerSecond = credit === undefined ? 0 : granted.model.hiddenTokensPerSecond;
        this.output = new OutputCount(hiddenPerSecond, credit?.bound ?? 0, true);
        return admission;
      },
      (error: unknown) => {
        answered();
        // Without an answer from the database nobody knows whether the hold was placed.
        this.mayHoldMoney = error instanceof AdmissionUnavailable;
        throw error;
      },
    );
    return this.admitting;
  }

  /** Puts a request to an upstream on record; its log is the caller's to keep up. What another has said is forgotten. */
  beginAttempt(target: AttemptTarget): AttemptLog {
    const attempt = new AttemptLog(this.call, this.attempts.length + 1, target, monotonicMs() - this.startedMs);
    const left = this.attempts.at(-1);
    if (left !== undefined && !this.isProvisional) left.usage = this.told;
    this.told = this.usage = this.seen = undefined;
    this.output.restart();
    attempt.onAnswered = () => this.output.begin(monotonicMs());
    this.attempts.push(attempt);
    return attempt;
  }

  /** Whether nothing of an answer has been seen yet. */
  get silent(): boolean {
    return !this.begun;
  }

  /** Whether the whole prompt was sent and the upstream has not refused it. */
  get promptSent(): boolean {
    return this.attempts.at(-1)?.isPromptSpent ?? false;
  }

  /** Whether all output so far is paid for. Asks for more ahead of use. */
  get covered(): boolean {
    const credit = this.granted?.credit;
    return credit === undefined || credit.covers(this.output.total(monotonicMs));
  }

  /** Resolves when it is. @throws OutOfCredit when it cannot be, by a tokenizer's count of it */
  async cover(): Promise<void> {
    const credit = this.granted?.credit;
    // More may come while it is asked for.
    while (!this.covered) {
      // An estimate that has passed the limit is put right before anything is held for it.
      const isDoubtful = credit !== undefined && this.output.total(monotonicMs) > credit.bound;
      if (isDoubtful && (await this.recount())) continue;
      try {
        await credit?.cover(this.output.total(monotonicMs));
      } catch (error) {
        if (!(error instanceof OutOfCredit) || !(await this.recount())) throw error;
      }
    }
  }

  private get isPromptKnown(): boolean {
    return (this.usage?.input ?? 0) > 0 || this.countedPrompt !== undefined;
  }

  private get prompt(): CountablePrompt | undefined {
    return this.leftPrompt ?? this.call.body.countable;
  }

  /** Replaces estimates by a tokenizer's count. @returns false when there is nothing to count, or counting failed */
  private async recount(): Promise<boolean> {
    const prompt = this.isPromptKnown ? undefined : this.prompt;
    const said = this.output.takeUncounted();
    if (prompt === undefined && said === undefined) return false;
    const tokens = await this.desk.count(this, prompt, said?.said ?? []);
    if (tokens !== undefined) this.noteCount(tokens, prompt !== undefined, said);
    return tokens !== undefined;
  }

  private noteCount({ prompt, output }: CountedTokens, hasPrompt: boolean, said: Uncounted | undefined): void {
    said?.counted(output);
    if (!hasPrompt) return;
    this.countedPrompt = prompt;
    const { head } = this.call;
    const { plan, credit } = this.granted ?? {};
    // What lies outside the body is not in the count.
    const isWhole = head.outside === undefined || plan?.continuedTokens !== undefined;
    if (plan !== undefined && isWhole) credit?.count(promptByCount(head, plan, prompt));
  }

  /** Notes what a piece of the answer says of it: first content, output, usage. */
  note(signals: readonly CallSignal[]): void {
    for (const signal of signals) this.noteOne(signal);
  }

  /** Settles a call whose answer is complete. @throws SettlementUnavailable when that could not be recorded in time */
  succeed(): Promise<void> {
    return this.settle(SUCCEEDED);
  }

  /** Waits no longer for a success to be settled, which fails by it and is charged as a failure unless it is already sent. */
  giveUp(): void {
    this.desk.giveUp(this);
  }

  /** Settles a call that failed, before its failure is told. A refusal is one that came before admission. */
  async fail(failure: AppError): Promise<void> {
    const settled = this.settle({ status: this.granted === undefined ? 'refused' : 'failed', error: failure });
    // The database is gone: the row waits until it is back, the client need not.
    if (failure instanceof AdmissionUnavailable || failure instanceof SettlementUnavailable)
      settled.catch(() => undefined);
    else await settled;
  }

  /**
   * Called when nobody listens any more. Nothing happens when the call has ended already; else the client has left:
   * a hold that is still being placed is waited for, so that none is ever leaked.
   */
  abandon(): void {
    if (this.settling !== undefined) return;
    this.leftPrompt = this.call.body.countable;
    const left = new AppError('context_canceled', 'context canceled: the client closed the connection.');
    void Promise.allSettled([this.admitting])
      .then(() => this.settle({ status: 'cancelled', error: left }))
      // The queue has logged it and goes on trying: there is nobody left to tell.
      .catch(() => undefined);
  }

  /** What has been seen of the answer so far. */
  progress(): Omit<Progress, 'promptSent' | 'bounds'> & { readonly begun: boolean } {
    return {
      usage: this.usage,
      told: this.told,
      isProvisional: this.isProvisional,
      countedPrompt: this.countedPrompt,
      outputUnits: this.output.total(monotonicMs),
      shownUnits: this.output.shown,
      // What passes as it is, unstreamed, is looked into only where its report is in doubt.
      seenUnits: this.seen ?? (this.call.head.stream ? 0 : undefined),
      begun: this.begun,
    };
  }

  private noteOne(signal: CallSignal): void {
    switch (signal.type) {
      case 'content':
        this.show();
        break;
      case 'output':
        this.seen = (this.seen ?? 0) + signal.units;
        this.output.estimate(signal.units, signal.text, signal.lane);
        break;
      case 'usage':
        this.told = signal.usage;
        this.isProvisional = !isFinalReport(signal);
        this.report(this.believed(signal.usage));
        break;
      case 'whole':
        this.output.come(signal.bytes);
        break;
      case 'state':
        break;
      default:
        signal satisfies never;
    }
  }

  /** What can be true of a report. One that came before the answer cannot know what that will come to. */
  private believed(report: TokenUsage): TokenUsage {
    const usage = this.granted === undefined ? report : boundedUsage(report, this.granted.bounds, this.seen);
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
    const { told, isProvisional, seen, granted } = this;
    return told === undefined || isProvisional || !isBelievable(told, granted.bounds, seen);
  }

  /** What is charged by a count is counted first. Nothing that comes meanwhile is the call's. */
  private settleCounted(ending: Ending): Promise<void> {
    const endedMs = monotonicMs();
    this.output.show(endedMs);
    const settled = (): Promise<void> => this.desk.settle(this, ending, endedMs);
    return this.isChargedByCount(ending) ? this.recount().then(settled) : settled();
  }
}
