import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { Worker } from 'node:worker_threads';
import { AppError } from '../platform/shared/index.js';
import type { CallBody } from '../protocols/contract/index.js';
import { BodyBudget, type BodyShare } from './body-budget.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { CutOff } from './relay.errors.js';
import { TimeSlicer, TranslationError, type TranslationJob, type TranslationReply } from './translation-job.js';

/** Bytes copied per slice. */
const SLICE_BYTES = 1024 * 1024;
/** Measured memory of a request in the thread, per byte of JSON and per JSON value. */
const MEMORY_PER_BYTE = 8;
const MEMORY_PER_VALUE = 250;

/** The program and limits of the translation thread. Tests override them. */
@Injectable()
export class TranslationThread {
  readonly program: URL = new URL('./translation-worker.js', import.meta.url);
  /** Smaller requests are translated inline, in a few milliseconds. */
  readonly maxInlineBytes: number = 512 * 1024;
  readonly maxInlineValues: number = 4000;
  /** Per request, in ms; for the first one including the start of the thread. */
  readonly maxMs: number = 120_000;
  /** V8 heap limit of the thread, in MiB. */
  readonly maxHeapMib: number = 2048;
}

type QueuedTranslation = TranslationJob extends infer Each
  ? Each extends TranslationJob
    ? Omit<Each, 'body'>
    : never
  : never;

/** A large request to translate. */
interface QueuedRequest {
  readonly accountId: string;
  readonly job: QueuedTranslation;
  readonly body: CallBody;
  /** JSON values in the body. */
  readonly values: number;
  /** Characters of referenced responses. */
  readonly referencedLength: number;
}

/** A waiting or running request. */
interface QueueEntry extends QueuedRequest {
  readonly share: BodyShare;
  readonly out: Subscriber<TranslationReply>;
}

/**
 * Translates large requests one after the other in a separate thread, round-robin between accounts. Memory is reserved
 * during the work. The thread starts on demand and is restarted after a crash.
 */
@Injectable()
export class TranslationQueue implements OnModuleDestroy {
  private readonly logger = new Logger('Translation');
  /** By account, the one that waited longest first. */
  private readonly waiting = new Map<string, QueueEntry[]>();
  private current: QueueEntry | undefined;
  private worker: Worker | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly thread: TranslationThread,
    private readonly slicer: TimeSlicer,
    private readonly budget: BodyBudget,
    private readonly reasoning: ReasoningSeal,
  ) {}

  /** Cold. Unsubscribing removes the request from the queue. Errors are AppErrors. */
  run(request: QueuedRequest): Observable<TranslationReply> {
    const { accountId, referencedLength } = request;
    return new Observable((out) => {
      if (this.isClosed) return out.error(new CutOff());
      const entry: QueueEntry = { ...request, share: this.budget.open(accountId), out };
      try {
        entry.share.growForWork(referencedLength);
      } catch (error) {
        return out.error(error);
      }
      const queue = this.waiting.get(accountId);
      if (queue === undefined) this.waiting.set(accountId, [entry]);
      else queue.push(entry);
      this.next();
      return () => this.remove(entry);
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    this.dropWorker(worker, 'the process stops');
    for (const { share, out } of [...this.waiting.values()].flat()) {
      share.release();
      out.error(new CutOff());
    }
    this.waiting.clear();
    await worker?.terminate();
  }

  private next(): void {
    if (this.current !== undefined || this.isClosed) return;
    const [first] = this.waiting;
    if (first === undefined) return;
    const [accountId, queue] = first;
    this.waiting.delete(accountId);
    this.current = queue.shift();
    if (queue.length > 0) this.waiting.set(accountId, queue);
    if (this.current !== undefined) this.begin(this.current);
  }

  private begin(entry: QueueEntry): void {
    try {
      // Throws if the client has left.
      const { length } = entry.body.bytes;
      const needed = MEMORY_PER_BYTE * (length + entry.referencedLength) + MEMORY_PER_VALUE * entry.values;
      entry.share.growForWork(needed);
      this.timer = setTimeout(() => this.dropWorker(this.worker, 'it timed out'), this.thread.maxMs).unref();
      this.copy(entry, Buffer.allocUnsafeSlow(length), 0);
    } catch (error) {
      this.end(entry, error);
    }
  }

  private copy(entry: QueueEntry, copy: Buffer, from: number): void {
    this.slicer.take(() => {
      if (this.current !== entry) return;
      if (entry.out.closed) return this.end(entry);
      const to = from + SLICE_BYTES;
      try {
        entry.body.bytes.copy(copy, from, from, to);
      } catch (error) {
        return this.end(entry, error);
      }
      if (to < copy.length) this.copy(entry, copy, to);
      else this.post(entry, copy);
    });
  }

  private post(entry: QueueEntry, body: Buffer): void {
    try {
      this.worker ??= this.start();
      this.worker.postMessage({ ...entry.job, body }, [body.buffer as ArrayBuffer]);
    } catch (error) {
      this.end(entry, error);
    }
  }

  private start(): Worker {
    const worker = new Worker(this.thread.program, {
      name: 'translation',
      env: {},
      execArgv: [],
      workerData: { sealKey: this.reasoning.key },
      resourceLimits: { maxOldGenerationSizeMb: this.thread.maxHeapMib },
    });
    worker.unref();
    worker.on('message', (reply: TranslationReply) => this.onReply(worker, reply));
    worker.on('error', (error) => this.dropWorker(worker, String(error)));
    worker.on('exit', (code) => this.dropWorker(worker, `it exited with ${code}`));
    return worker;
  }

  private onReply(worker: Worker, reply: TranslationReply): void {
    const { current } = this;
    if (worker !== this.worker || current === undefined) return;
    if ('error' in reply) return this.end(current, new TranslationError(reply.error));
    try {
      if (!current.out.closed && 'built' in reply) current.body.reserveBeside?.(reply.built.body.length);
    } catch (error) {
      return this.end(current, error);
    }
    current.out.next(reply);
    this.end(current);
  }

  private dropWorker(worker: Worker | undefined, reason: string): void {
    if (worker !== this.worker) return;
    this.worker = undefined;
    void worker?.terminate();
    if (this.current === undefined) return;
    this.logger.warn(`The translation thread exited: ${reason}.`);
    this.end(this.current, new AppError('internal', 'Failed to translate the request for the upstream of its model.'));
  }

  private remove(entry: QueueEntry): void {
    const queue = this.waiting.get(entry.accountId);
    const place = queue?.indexOf(entry) ?? -1;
    if (place < 0) return;
    queue?.splice(place, 1);
    entry.share.release();
    if (queue?.length === 0) this.waiting.delete(entry.accountId);
  }

  private end(entry: QueueEntry, error?: unknown): void {
    if (this.current !== entry) return;
    this.current = undefined;
    clearTimeout(this.timer);
    entry.share.release();
    if (error === undefined) entry.out.complete();
    else entry.out.error(error);
    this.next();
  }
}
