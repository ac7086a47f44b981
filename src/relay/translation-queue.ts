import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { Worker } from 'node:worker_threads';
import type { CallBody } from '../call/index.js';
import { AppError } from '../shared/index.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { TranslationError, type TranslationJob, type TranslationReply } from './translation-job.js';
import { TranslationThread } from './translation-thread.js';
import { Turns } from './turns.js';

/** So much of a body is copied in one go. */
const SLICE_BYTES = 1024 * 1024;
/** What a request takes in the thread at most, measured: for each byte of its body, and for each of its JSON values. */
const MEMORY_PER_BYTE = 8;
const MEMORY_PER_VALUE = 250;

type Job = TranslationJob extends infer Each ? (Each extends TranslationJob ? Omit<Each, 'body'> : never) : never;

/** A request that waits, or is being translated. */
interface Waiting {
  readonly accountId: string;
  readonly job: Job;
  readonly body: CallBody;
  readonly values: number;
  readonly out: Subscriber<TranslationReply>;
}

/**
 * Has large requests translated in a thread of its own, one after the other: accounts take turns. Memory counts while it
 * is used. The thread is started when it is first needed, and again after it was lost.
 */
@Injectable()
export class TranslationQueue implements OnModuleDestroy {
  private readonly logger = new Logger('Translation');
  /** By account, the one that waits longest since its last turn first. */
  private readonly waiting = new Map<string, Waiting[]>();
  private current: Waiting | undefined;
  private worker: Worker | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly thread: TranslationThread,
    private readonly turns: Turns,
    private readonly reasoning: ReasoningSeal,
  ) {}

  /** Cold. Unsubscribing gives up the place in the queue. Errors are AppErrors. */
  run(accountId: string, job: Job, body: CallBody, values: number): Observable<TranslationReply> {
    return new Observable((out) => {
      const waiting: Waiting = { accountId, job, body, values, out };
      const line = this.waiting.get(accountId);
      if (line === undefined) this.waiting.set(accountId, [waiting]);
      else line.push(waiting);
      this.next();
      return () => this.leave(waiting);
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    const { worker } = this;
    this.lose(worker, 'the process stops');
    await worker?.terminate();
  }

  private next(): void {
    if (this.current !== undefined || this.isClosed) return;
    const [first] = this.waiting;
    if (first === undefined) return;
    const [accountId, line] = first;
    this.waiting.delete(accountId);
    this.current = line.shift();
    if (line.length > 0) this.waiting.set(accountId, line);
    if (this.current !== undefined) this.begin(this.current);
  }

  private begin(waiting: Waiting): void {
    const { bytes } = waiting.body;
    try {
      waiting.body.countBeside?.(MEMORY_PER_BYTE * bytes.length + MEMORY_PER_VALUE * waiting.values);
    } catch (error) {
      return this.end(waiting, error);
    }
    this.timer = setTimeout(() => this.lose(this.worker, 'it took too long'), this.thread.maxMs).unref();
    this.copy(waiting, Buffer.allocUnsafeSlow(bytes.length), 0);
  }

  private copy(waiting: Waiting, copy: Buffer, from: number): void {
    this.turns.take(() => {
      if (this.current !== waiting) return;
      if (waiting.out.closed) return this.end(waiting);
      const to = from + SLICE_BYTES;
      waiting.body.bytes.copy(copy, from, from, to);
      if (to < copy.length) this.copy(waiting, copy, to);
      else this.post(waiting, copy);
    });
  }

  private post(waiting: Waiting, body: Buffer): void {
    try {
      this.worker ??= this.start();
      this.worker.postMessage({ ...waiting.job, body }, [body.buffer as ArrayBuffer]);
    } catch (error) {
      this.end(waiting, error);
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
    worker.on('error', (error) => this.lose(worker, String(error)));
    worker.on('exit', (code) => this.lose(worker, `it exited with ${code}`));
    return worker;
  }

  private onReply(worker: Worker, reply: TranslationReply): void {
    const { current } = this;
    if (worker !== this.worker || current === undefined) return;
    if ('error' in reply) return this.end(current, new TranslationError(reply.error));
    if (!current.out.closed) current.body.countBeside?.('built' in reply ? reply.built.body.length : 0);
    current.out.next(reply);
    this.end(current);
  }

  private lose(worker: Worker | undefined, why: string): void {
    if (worker !== this.worker) return;
    this.worker = undefined;
    void worker?.terminate();
    if (this.current === undefined) return;
    this.logger.warn(`The thread that translates large requests has ended: ${why}.`);
    this.end(
      this.current,
      new AppError('internal', 'The request could not be translated for the upstream of its model.'),
    );
  }

  private leave(waiting: Waiting): void {
    const line = this.waiting.get(waiting.accountId);
    const place = line?.indexOf(waiting) ?? -1;
    if (place < 0) return;
    line?.splice(place, 1);
    if (line?.length === 0) this.waiting.delete(waiting.accountId);
  }

  private end(waiting: Waiting, error?: unknown): void {
    if (this.current !== waiting) return;
    this.current = undefined;
    clearTimeout(this.timer);
    if (error === undefined) waiting.out.complete();
    else waiting.out.error(error);
    this.next();
  }
}
