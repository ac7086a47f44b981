import { Injectable, Logger, Module, type OnModuleDestroy } from '@nestjs/common';
import { Worker } from 'node:worker_threads';
import type { PromptSample, TextPlaces } from '../contract/index.js';

/** Program and limits of the counting thread. Tests override them. */
@Injectable()
export class TokenThread {
  readonly program: URL = new URL('./token-worker.js', import.meta.url);
  /** Timeout in ms; for the first request including the start of the thread. */
  readonly timeoutMs: number = 10_000;
  /** Max bytes per request: more text than any context window. */
  readonly maxBytes: number = 32 * 1024 * 1024;
  readonly maxWaitingBytes: number = 64 * 1024 * 1024;
  /** V8 heap limit, in MiB. */
  readonly maxHeapMib: number = 512;
}

interface CountJob {
  readonly request: CountRequest;
  readonly bytes: number;
  /** Resolves the promise; undefined without a count. */
  readonly done: (tokens: CountedTokens | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Counts tokens in a separate thread, one request at a time. The thread starts on demand and is restarted after a
 * crash, which loses the current count only.
 */
@Injectable()
export class TokenCounter implements OnModuleDestroy {
  private readonly logger = new Logger('Tokens');
  private readonly waiting: CountJob[] = [];
  private waitingBytes = 0;
  private current: CountJob | undefined;
  private worker: Worker | undefined;
  private isClosed = false;

  constructor(private readonly thread: TokenThread) {}

  /** Undefined if it cannot be counted in time; callers then use an estimate. */
  count(request: CountRequest): Promise<CountedTokens | undefined> {
    const bytes = bytesOf(request);
    const { maxBytes, maxWaitingBytes, timeoutMs: patienceMs } = this.thread;
    if (this.isClosed || bytes > maxBytes || this.waitingBytes + bytes > maxWaitingBytes) {
      this.logger.debug(`Skipped counting ${bytes} bytes: ${this.waitingBytes} bytes are already queued.`);
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.giveUp(job), patienceMs).unref();
      const job: CountJob = { request, bytes, done: resolve, timer };
      this.waiting.push(job);
      this.waitingBytes += bytes;
      this.next();
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosed = true;
    while (this.waiting[0] !== undefined) this.giveUp(this.waiting[0]);
    const { worker } = this;
    this.lose(worker, 'it is no longer needed');
    await worker?.terminate();
  }

  private next(): void {
    if (this.current !== undefined) return;
    const job = this.waiting.shift();
    if (job === undefined) return;
    this.waitingBytes -= job.bytes;
    this.current = job;
    try {
      this.worker ??= this.start();
      const [message, memory] = copyOf(job.request);
      this.worker.postMessage(message, memory);
    } catch (error) {
      this.logger.debug({ err: error }, 'Failed to message the token counter thread.');
      this.end(undefined);
    }
  }

  private start(): Worker {
    const worker = new Worker(this.thread.program, {
      name: 'tokens',
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.thread.maxHeapMib },
    });
    worker.unref();
    worker.on('message', (reply: CountReply) => this.onReply(worker, reply));
    worker.on('error', (error) => this.lose(worker, error.name));
    worker.on('exit', (code) => this.lose(worker, `it exited with ${code}`));
    return worker;
  }

  private onReply(worker: Worker, reply: CountReply): void {
    // A reply of an abandoned thread.
    if (worker !== this.worker) return;
    if ('error' in reply) this.logger.debug(`Not counted: ${reply.error}.`);
    this.end('error' in reply ? undefined : reply);
  }

  private lose(worker: Worker | undefined, why: string): void {
    if (worker === undefined || worker !== this.worker) return;
    this.worker = undefined;
    this.logger.debug(`The token counter thread exited: ${why}.`);
    this.end(undefined);
  }

  /** The job timed out. A running count cannot be interrupted, so the thread is terminated. */
  private giveUp(job: CountJob): void {
    if (job === this.current) {
      const { worker } = this;
      this.lose(worker, 'it timed out');
      void worker?.terminate();
      return;
    }
    const place = this.waiting.indexOf(job);
    if (place < 0) return;
    this.waiting.splice(place, 1);
    this.waitingBytes -= job.bytes;
    job.done(undefined);
  }

  private end(tokens: CountedTokens | undefined): void {
    const job = this.current;
    this.current = undefined;
    clearTimeout(job?.timer);
    job?.done(tokens);
    this.next();
  }
}

const bytesOf = ({ prompt, response }: CountRequest): number =>
  (prompt instanceof Uint8Array ? prompt.length : textBytes(prompt?.texts ?? [])) +
  (response instanceof Uint8Array ? response.length : textBytes(response));

const textBytes = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Copies views of larger buffers, which would otherwise be transferred as a whole. */
function copyOf(request: CountRequest): [CountRequest, ArrayBuffer[]] {
  const memory: ArrayBuffer[] = [];
  const copied = <T>(value: T | Uint8Array): T | Uint8Array => {
    if (!(value instanceof Uint8Array)) return value;
    const copy = new Uint8Array(value);
    memory.push(copy.buffer);
    return copy;
  };
  return [{ ...request, prompt: copied(request.prompt), response: copied(request.response) }, memory];
}

/** A counting request, copied to the thread. */
export interface CountRequest {
  /** The body or a sample; absent if only the response is counted. */
  readonly prompt?: Uint8Array | PromptSample | undefined;
  /** A complete response, or the kept texts of a streamed one. */
  readonly response: Uint8Array | readonly string[];
  readonly places: TextPlaces;
}

export interface CountedTokens {
  readonly prompt: number;
  readonly output: number;
}

/** Counts, or the name of an error; never user text. */
export type CountReply = CountedTokens | { readonly error: string };

@Module({ providers: [TokenCounter, TokenThread], exports: [TokenCounter] })
export class TokensModule {}
