import { Injectable, Logger } from '@nestjs/common';
import type { Observable, Subscription } from 'rxjs';
import type { FastifyReply } from 'fastify';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import { Config } from '../platform/config/index.js';
import { AppError, isJsonObject, type JsonObject, reasonOf } from '../platform/shared/index.js';
import {
  type Call,
  type Frame,
  parseData,
  type ProtocolAdapter,
  type SseEvent,
  SseSplitter,
  sseText,
  stringOf,
} from '../protocols/contract/index.js';
import type { ReplyFacts } from './call-context.js';
import { Overloaded, StorageDisabled } from './relay.errors.js';
import { Replies } from './replies.js';
import { RunState } from './run-state.js';
import type { SharedResponse } from './shared-response.js';
import { BackgroundResponses, type BackgroundStatus, type ResponseOwner } from './stored-responses/index.js';

/** Interval of storing events, and of looking whether the response was cancelled. */
const FLUSH_MS = 400;
/** Max text of events: the stream of longer responses cannot be resumed beyond. */
const MAX_EVENTS_LENGTH = 16 * 1024 * 1024;
/** Attempts to store the end. */
const MAX_ATTEMPTS = 5;

const STATUSES: Readonly<Record<string, Exclude<BackgroundStatus, 'in_progress'>>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
};

interface BackgroundCall {
  readonly call: Call;
  readonly caller: Caller;
  readonly responseAdapter: ProtocolAdapter;
  readonly shared: SharedResponse;
}

/** Runs responses that outlive their client's connection. */
@Injectable()
export class BackgroundRuns {
  private running = 0;

  constructor(
    private readonly store: BackgroundResponses,
    private readonly keys: KeyAuthenticator,
    private readonly replies: Replies,
    private readonly state: RunState,
    private readonly config: Config,
  ) {}

  /** @throws AppError when a call cannot run in the background */
  require(
    { call, responseAdapter }: Pick<BackgroundCall, 'call' | 'responseAdapter'>,
    { storesResponses }: Caller,
    mayDetach: boolean,
  ): void {
    if (!storesResponses) throw StorageDisabled.forResponse();
    if (!mayDetach || responseAdapter.id !== call.protocol) throw new NotInBackground();
    if (this.running >= this.config.maxCallsInFlight) throw new Overloaded();
  }

  /**
   * Sends the response as it begins, or its stream, and runs it to its end. A client that leaves before it has begun
   * cannot name it: the call is then cancelled.
   * @throws AppError when it failed before anything was sent
   */
  async serve({ call, caller, responseAdapter, shared }: BackgroundCall, reply: FastifyReply): Promise<void> {
    const isStreamed = call.head.fields.isTrue('stream');
    const { keyId, accountId } = caller;
    const owner = { keyId, accountId, secret: await this.keys.secretOf(caller, call.request.headers) };
    const run = new BackgroundRun({ call, responseAdapter, ...shared.reply() }, owner, this.store);
    this.running += 1;
    void run.over.then(() => (this.running -= 1));
    this.state.detach(run.over);
    if (isStreamed) {
      await this.replies.send(reply, { call, responseAdapter, ...shared.reply() });
      if (!run.hasBegun) run.cancel();
    } else await sendCreated(run, reply);
    return run.over;
  }
}

async function sendCreated(run: BackgroundRun, reply: FastifyReply): Promise<void> {
  const leave = (): void => run.cancel();
  reply.raw.once('close', leave);
  try {
    const response = await run.created;
    // Nest would send 201.
    void reply
      .status(200)
      .headers({ ...run.headers })
      .send(response);
  } catch (error) {
    if (!reply.raw.destroyed) throw error;
    reply.hijack();
  } finally {
    reply.raw.off('close', leave);
  }
}

class NotInBackground extends AppError {
  constructor() {
    super('invalid_request', 'background responses need HTTP at /v1/responses, without an Idempotency-Key.', {
      param: 'background',
      fault: 'unsupported_parameter',
    });
  }
}

/** A call whose response is recorded. */
interface RecordedRun {
  readonly call: Call;
  readonly responseAdapter: ProtocolAdapter;
  readonly facts: ReplyFacts;
  readonly frames: Observable<Frame>;
}

/**
 * Subscribes to the response of one call and stores it with its events until it ends. Cancelled when the stored
 * response no longer is in progress.
 */
export class BackgroundRun {
  /** The response as JSON once it has begun; fails if it never does. */
  readonly created: Promise<JsonObject>;
  /** Resolves when everything is stored. Never fails. */
  readonly over: Promise<void>;
  private readonly logger = new Logger('BackgroundRun');
  private readonly splitter = new SseSplitter();
  private response: JsonObject | undefined;
  private status: BackgroundStatus = 'in_progress';
  /** Events that are not stored yet. */
  private events: string[] = [];
  private lastSequence = -1;
  private length = 0;
  private subscription: Subscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Storage in order. */
  private storing: Promise<unknown> = Promise.resolve();
  private resolveCreated: (response: JsonObject) => void = () => undefined;
  private rejectCreated: (error: unknown) => void = () => undefined;
  private resolveOver: () => void = () => undefined;

  constructor(
    private readonly recorded: RecordedRun,
    private readonly owner: ResponseOwner,
    private readonly store: BackgroundResponses,
  ) {
    this.created = new Promise((resolve, reject) => {
      this.resolveCreated = resolve;
      this.rejectCreated = reject;
    });
    this.over = new Promise((resolve) => (this.resolveOver = resolve));
    // Clients that stream get the error from the stream.
    this.created.catch(() => undefined);
    this.subscription = recorded.frames.subscribe({
      next: ({ bytes }) => this.read(this.splitter.next(bytes)),
      error: (error: unknown) => this.fail(AppError.from(error)),
      complete: () => void this.finish(),
    });
  }

  /** Ends the call as cancelled. */
  cancel(): void {
    if (this.subscription?.closed !== false) return;
    this.subscription.unsubscribe();
    this.rejectCreated(new AppError('context_canceled', 'context canceled: the client closed the connection.'));
    clearInterval(this.timer);
    // Output received until then can be read.
    if (this.response !== undefined) this.queue(() => this.flush());
    void this.storing.then(() => this.resolveOver());
  }

  /** Clients can name it. */
  get hasBegun(): boolean {
    return this.response !== undefined;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.recorded.facts.headers;
  }

  private get id(): string {
    return String(this.response?.['id']);
  }

  private read(events: readonly SseEvent[]): void {
    for (const event of events) {
      const data = event.isComment ? undefined : parseData(event);
      if (data !== undefined) this.note(data);
    }
  }

  private note(data: JsonObject): void {
    const { sequence_number: sequence, response } = data;
    const type = stringOf(data['type']);
    if (isJsonObject(response)) this.response = { ...response, background: true };
    if (this.timer === undefined && this.response !== undefined) this.begin(this.response);
    this.status = STATUSES[type] ?? this.status;
    if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence <= this.lastSequence) return;
    const text = sseText(type, JSON.stringify(data));
    this.length += text.length;
    this.lastSequence = sequence;
    if (this.length <= MAX_EVENTS_LENGTH) this.events.push(text);
  }

  private begin(response: JsonObject): void {
    this.timer = setInterval(() => this.queue(() => this.tick()), FLUSH_MS);
    this.queue(async () => {
      const { call } = this.recorded;
      if (!(await this.store.begin(this.owner, this.id, call.id, JSON.stringify(response)))) {
        this.cancel();
        throw StorageDisabled.forResponse();
      }
      this.resolveCreated(response);
      await this.flush();
    });
  }

  private queue(work: () => Promise<void>): void {
    this.storing = this.storing.then(work).catch((error: unknown) => {
      this.logger.warn(`Failed to store the background response of ${this.recorded.call.id}: ${reasonOf(error)}`);
      this.rejectCreated(error);
    });
  }

  private async tick(): Promise<void> {
    await this.flush();
    if (!(await this.store.isRunning(this.owner, this.id))) this.cancel();
  }

  private async flush(): Promise<void> {
    const { events, lastSequence } = this;
    if (events.length === 0) return;
    this.events = [];
    try {
      await this.store.addEvents(this.owner, this.id, { lastSequence, text: events.join('') });
    } catch (error) {
      this.events = [...events, ...this.events];
      throw error;
    }
  }

  /** Failures before the response began are the client's to see. */
  private fail(error: AppError): void {
    if (this.response === undefined) {
      this.rejectCreated(error);
      return void this.finish();
    }
    const { call, responseAdapter, facts } = this.recorded;
    const bytes = facts.failure(error) ?? responseAdapter.renderStreamError(call, error, facts.tail);
    this.read(new SseSplitter().next(bytes));
    this.status = 'failed';
    void this.finish();
  }

  private async finish(): Promise<void> {
    clearInterval(this.timer);
    await this.storing;
    const { response, status } = this;
    if (response !== undefined && status !== 'in_progress') await this.storeEnd(response, status);
    this.rejectCreated(new AppError('upstream_error', 'The upstream response has no beginning.'));
    this.resolveOver();
  }

  private async storeEnd(response: JsonObject, status: Exclude<BackgroundStatus, 'in_progress'>): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      try {
        await this.flush();
        await this.store.end(this.owner, this.id, status, JSON.stringify(response));
        return;
      } catch (error) {
        this.logger.warn(`Failed to store the end of ${this.recorded.call.id}: ${reasonOf(error)}`);
        await new Promise((resolve) => setTimeout(resolve, FLUSH_MS));
      }
    }
  }
}
