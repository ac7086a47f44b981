import { Injectable } from '@nestjs/common';
import { CatalogService } from '../../catalog/index.js';
import { type Caller, KeyAuthenticator, RefusedKey } from '../../keys/index.js';
import { AppError, monotonicMs, newId } from '../../platform/shared/index.js';
import {
  type Call,
  type CallSignal,
  jsonInterests,
  readJsonFields,
  type TokenUsage,
  Waits,
} from '../../protocols/contract/index.js';
import {
  AttemptLog,
  type BillingPlan,
  BillingService,
  type CallTimes,
  InsufficientQuota,
  InterruptedCalls,
  type RefusedCall,
  type Ticket,
} from '../../relay/billing/index.js';
import type { CallScript } from './call-script.js';
import type { SeedOffer } from './seed.catalog.js';

/** Seed calls have no body. */
const NO_FIELDS = readJsonFields(Buffer.from('{}'), jsonInterests());
/** Approximate. */
const BYTES_PER_TOKEN = 4;
/** From the start of the call: when the hold is requested, and when the first attempt begins. */
const HOLD_BEGUN_MS = 1;
const ADMITTED_MS = 4;
/** Durations of a failed attempt, and of connecting. */
const FAILED_MS = 95;
const CONNECTED_MS = 24;
const OVERLOADED = new AppError('server_is_overloaded', 'The upstream is overloaded. Retry later.');

/**
 * Admits and settles scripted calls through the relay's billing, so that prices, holds and the ledger are as for real
 * calls; only the upstream and its timing are simulated. Ledger entries have the time of seeding: they cannot be
 * backdated.
 */
@Injectable()
export class CallPlayer {
  constructor(
    private readonly billing: BillingService,
    private readonly catalog: CatalogService,
    private readonly keys: KeyAuthenticator,
    private readonly interrupted: InterruptedCalls,
  ) {}

  /** Resolves when the call is settled. Records it as refused when the wallet or the key cannot pay for it. */
  async play(script: CallScript, caller: Caller): Promise<void> {
    const { ending } = script;
    const call = callOf(script);
    if (ending.status === 'refused') return this.refuse(call, caller, ending.error);
    const ticket = this.billing.open(call, caller, since(script.durationMs));
    try {
      await ticket.admit((current) => this.plan(call, current));
    } catch (error) {
      if (error instanceof InsufficientQuota) return this.refuse(call, caller, error);
      throw error;
    }
    ticket.holding = { atMs: HOLD_BEGUN_MS, tookMs: ADMITTED_MS - HOLD_BEGUN_MS };
    if (ending.status === 'interrupted') return this.interrupted.close(call.id);
    await playResponse(ticket, script);
    await this.billing.settle(ticket, ending);
  }

  /** Records a call with a disabled or expired key, with the error that a client would get. */
  async playRefused(call: Pick<RefusedCall, 'createdAt' | 'protocol' | 'ip'>, caller: Caller): Promise<void> {
    const error = await this.keys.renew(caller, call.ip).catch((thrown: unknown) => thrown);
    if (!(error instanceof RefusedKey)) throw new TypeError(`The key "${caller.keyName}" is not refused.`);
    const id = newId('req', call.createdAt);
    await this.billing.refuse({ ...call, id, caller, transport: 'http', startedMs: monotonicMs() }, error);
  }

  private refuse(call: Call, caller: Caller, error: AppError): Promise<void> {
    return this.billing.settle(this.billing.open(call, caller, since(0)), { status: 'refused', error });
  }

  private plan(call: Call, caller: Caller): BillingPlan {
    const { version, groups, models } = this.catalog.current();
    const [group, model] = [groups.get(caller.groupName), models.get(call.head.model)];
    if (group === undefined || model === undefined) throw new TypeError(`No channel offers ${call.head.model}.`);
    return { caller, model, group, catalogVersion: version };
  }
}

function callOf({ createdAt, ip, stream, effort, outputLimit, usage, offers: [{ model, channel }] }: CallScript): Call {
  const size = { bytes: usage.input * BYTES_PER_TOKEN, encodedBytes: 0, images: 0 };
  return {
    id: newId('req', createdAt),
    createdAt,
    protocol: channel.protocol,
    request: { method: 'POST', path: '', query: '', headers: {} },
    transport: 'http',
    ip,
    head: { model: model.name, stream, outputLimit, choices: 1, effort, size, fields: NO_FIELDS },
    body: { bytes: Buffer.alloc(0) },
  };
}

/** Feeds the ticket with the attempts and signals of a simulated upstream. */
async function playResponse(ticket: Ticket, script: CallScript): Promise<void> {
  const { ending, offers, stream, firstTokenMs } = script;
  offers.forEach((offer, index) => {
    const last = index === offers.length - 1;
    const status = last ? ending.upstreamStatus : 529;
    const attempt = new PlayedAttempt(ticket.call, index + 1, offer, timesOf(script, index));
    attempt.connected();
    if (status !== null) attempt.headers(status);
    const { kind, message } = last ? (ending.error ?? {}) : OVERLOADED;
    attempt.finish(kind ?? 'succeeded', message);
    ticket.attempts.push(attempt);
  });
  if (stream && ending.begun) ticket.firstTokenMs = firstTokenMs;
  ticket.note(signalsOf(ticket, script));
}

function since(ms: number): CallTimes {
  const startedMs = monotonicMs() - ms;
  return { startedMs, waits: new Waits(startedMs) };
}

function timesOf({ ending, offers, stream, firstTokenMs, durationMs }: CallScript, index: number): AttemptTimes {
  const begunMs = ADMITTED_MS + index * FAILED_MS;
  const common = { begunMs, connectMs: CONNECTED_MS };
  if (index < offers.length - 1)
    return { ...common, headersMs: 90, firstByteMs: 91, firstTokenMs: null, durationMs: FAILED_MS };
  const waitedMs = firstTokenMs - begunMs;
  const headersMs = ending.upstreamStatus === null ? null : Math.round(waitedMs / 2);
  return {
    ...common,
    headersMs,
    firstByteMs: headersMs,
    firstTokenMs: stream && ending.begun ? waitedMs : null,
    durationMs: durationMs - begunMs,
  };
}

function signalsOf(ticket: Ticket, { ending, usage }: CallScript): readonly CallSignal[] {
  const taken = within(usage, ticket.admission?.outputLimit);
  const content: CallSignal[] = [{ type: 'content' }, { type: 'output', units: taken.output }];
  return [...(ending.begun ? content : []), ...(ending.reported ? [{ type: 'usage', usage: taken } as const] : [])];
}

/** Upstreams stop at the output limit. */
function within(usage: TokenUsage, limit = Infinity): TokenUsage {
  return { ...usage, output: Math.min(usage.output, limit), reasoning: Math.min(usage.reasoning, limit) };
}

/** Milliseconds from the attempt's start; null: never happened. */
interface AttemptTimes {
  /** From the call's start. */
  readonly begunMs: number;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/** The log of an attempt that was never sent, with scripted times. */
class PlayedAttempt extends AttemptLog {
  constructor(
    call: Call,
    ordinal: number,
    { model, channel: { name, protocol, costs }, upstreamModel }: SeedOffer,
    private readonly times: AttemptTimes,
  ) {
    const target = { channel: name, protocol, upstreamModel, credential: 1, cost: costs.get(model.name) };
    super(call, ordinal, target, times.begunMs);
  }

  override row(cost: bigint | undefined): ReturnType<AttemptLog['row']> {
    const { connectMs, headersMs, firstByteMs, firstTokenMs, durationMs } = this.times;
    return {
      ...super.row(cost),
      connect_ms: connectMs,
      headers_ms: headersMs,
      first_byte_ms: firstByteMs,
      first_token_ms: firstTokenMs,
      duration_ms: durationMs,
    };
  }
}
