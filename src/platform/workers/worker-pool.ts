import { Logger } from '@nestjs/common';
import cluster, { type Worker } from 'node:cluster';
import { isJsonObject, monotonicMs, reasonOf, within } from '../shared/index.js';
import { sendOrder, isQuestion, isWorkerReply, type Question, replyTo } from './messages.js';

/** Topic on which a worker reports that it serves. */
export const SERVES = 'worker serves';

/** Delay before an exited worker is replaced, in ms; doubles each time a worker exits within LASTED_MS. */
const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 10_000;
const LASTED_MS = 10_000;

interface CrewOptions {
  readonly size: number;
  /** Environment variables of workers, in addition to those of this process. */
  readonly environment: Readonly<Record<string, string>>;
  /** 0: the first worker picks a free port, which the others share. */
  readonly port: number;
  /** Ms from the order to stop until a worker is killed. */
  readonly patienceMs: number;
}

/** The workers of a primary: started, replaced when they exit, and stopped together. */
export class WorkerPool {
  private readonly logger = new Logger('Workers');
  private readonly living = new Set<Worker>();
  private readonly replacements = new Set<NodeJS.Timeout>();
  private waitMs = FIRST_WAIT_MS;
  private port: number;
  private listensOn = 0;
  private isStopping = false;
  private allInOrder = true;
  /** Set while the first worker starts. */
  private begun: ((failure?: string) => void) | undefined;
  private allEnded = (): void => undefined;

  constructor(
    private readonly options: CrewOptions,
    links: WorkerLinks,
  ) {
    this.port = options.port;
    links.handle(SERVES, () => this.begun?.());
    cluster.on('listening', (_, { port }) => (this.listensOn = port));
  }

  /**
   * Starts one worker, and the others once it serves: an error that stops the first would stop all.
   * @returns undefined, or how the first worker exited before it served
   */
  async start(): Promise<string | undefined> {
    const failure = await new Promise<string | undefined>((resolve) => {
      this.begun = resolve;
      this.fork();
    });
    this.begun = undefined;
    if (failure !== undefined || this.isStopping) return failure;
    for (let number = 1; number < this.options.size; number += 1) this.fork();
    return undefined;
  }

  /** Resolves when all have exited, with whether each did so by itself and with 0. @param why the reason to give them */
  async stop(why: string): Promise<boolean> {
    this.isStopping = true;
    this.replacements.forEach(clearTimeout);
    if (this.living.size === 0) return this.allInOrder;
    const ended = new Promise<void>((resolve) => (this.allEnded = resolve));
    const killing = setTimeout(() => this.killAll(), this.options.patienceMs);
    for (const worker of this.living) sendOrder(worker, 'stop', why);
    await ended;
    clearTimeout(killing);
    return this.allInOrder;
  }

  /** Stops waiting for running calls. @param who requested it */
  hurry(who: string): void {
    for (const worker of this.living) sendOrder(worker, 'hurry', who);
  }

  private fork(): void {
    // Without a living worker, port 0 would pick another port than the one announced.
    if (this.living.size === 0 && this.listensOn > 0) this.port = this.listensOn;
    const worker = cluster.fork({ ...this.options.environment, PORT: String(this.port) });
    const startedMs = monotonicMs();
    closeUntaken(worker);
    this.living.add(worker);
    worker.once('exit', (code: number, signal: string | null) => this.end(worker, startedMs, code, signal));
    worker.on('error', (error) => {
      this.logger.error(`Failed to start or message a worker: ${reasonOf(error)}`);
      if (worker.process.pid === undefined) this.end(worker, startedMs, 1, null);
    });
  }

  private end(worker: Worker, startedMs: number, code: number, signal: string | null): void {
    if (!this.living.delete(worker)) return;
    const how = signal ?? `exit code ${code}`;
    if (this.isStopping) {
      if (code !== 0) this.allInOrder = false;
      if (this.living.size === 0) this.allEnded();
    } else if (this.begun === undefined) this.replace(worker, monotonicMs() - startedMs, how);
    this.begun?.(how);
  }

  private replace({ process: { pid } }: Worker, livedMs: number, how: string): void {
    if (livedMs >= LASTED_MS) this.waitMs = FIRST_WAIT_MS;
    const { waitMs } = this;
    this.logger.warn({ pid }, `A worker exited (${how}); restarting in ${waitMs} ms.`);
    this.waitMs = Math.min(waitMs * 2, LAST_WAIT_MS);
    const replacement = setTimeout(() => {
      this.replacements.delete(replacement);
      this.fork();
    }, waitMs);
    this.replacements.add(replacement);
  }

  private killAll(): void {
    for (const worker of this.living) {
      this.logger.error({ pid: worker.process.pid }, 'A worker did not stop in time and was killed.');
      worker.process.kill('SIGKILL');
    }
  }
}

interface Closable {
  close(): void;
}

/**
 * Closes a connection that was handed to a worker which died before accepting it. Node leaves it open, and its client
 * would hang. Relies on undocumented messages of Node; does nothing if they change.
 */
function closeUntaken({ process: child }: Worker): void {
  const untaken = new Map<unknown, Closable>();
  const send = child.send.bind(child);
  Object.assign(child, {
    send: (...args: Parameters<typeof send>): boolean => {
      const [message, handle] = args as readonly unknown[];
      if (isJsonObject(message) && message['act'] === 'newconn' && isClosable(handle))
        untaken.set(message['seq'], handle);
      return send(...args);
    },
  });
  child.on('internalMessage', (message: unknown) => {
    if (isJsonObject(message)) untaken.delete(message['ack']);
  });
  child.once('exit', () => untaken.forEach((connection) => connection.close()));
}

const isClosable = (handle: unknown): handle is Closable =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';

/** @param worker id of the asking worker, unique per started process */
type TopicHandler = (payload: unknown, worker: number) => unknown;

/** The primary's side of messages to and from its workers. */
export class WorkerLinks {
  private readonly handlers = new Map<string, TopicHandler>();
  private readonly goneListeners: ((worker: number) => void)[] = [];
  /** Resolvers by question id. */
  private readonly waiting = new Map<number, (payload: unknown) => void>();
  private lastId = 0;

  constructor() {
    cluster.on('message', (worker, message: unknown) => {
      if (isQuestion(message)) void this.reply(worker, message);
      else if (isWorkerReply(message)) this.waiting.get(message.id)?.(message.payload);
    });
    cluster.on('exit', ({ id }) => this.goneListeners.forEach((listener) => listener(id)));
  }

  /** Registers the handler of a topic; it may return a promise. */
  handle(topic: string, handler: TopicHandler): void {
    this.handlers.set(topic, handler);
  }

  /** Called when a worker has exited for any reason: what it held is free again. */
  onGone(listener: (worker: number) => void): void {
    this.goneListeners.push(listener);
  }

  /**
   * Asks every worker on a topic (`PrimaryLink.handle`). Returns the replies by worker id; undefined for workers that
   * failed, exited or took longer than `waitMs`.
   */
  async askAll(topic: string, payload: unknown, waitMs: number): Promise<ReadonlyMap<number, unknown>> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true);
    const replies = workers.map(async (worker) => {
      return worker && ([worker.id, await this.ask(worker, topic, payload, waitMs)] as const);
    });
    return new Map((await Promise.all(replies)).filter((reply) => reply !== undefined));
  }

  private async ask(worker: Worker, topic: string, payload: unknown, waitMs: number): Promise<unknown> {
    const id = (this.lastId += 1);
    const reply = new Promise<unknown>((resolve) => {
      this.waiting.set(id, resolve);
      worker.send({ type: 'question', id, topic, payload } satisfies Question, undefined, (error) => {
        if (error !== null) resolve(undefined);
      });
    });
    try {
      return await within(reply, waitMs);
    } finally {
      this.waiting.delete(id);
    }
  }

  private async reply(worker: Worker, question: Question): Promise<void> {
    const handler = this.handlers.get(question.topic);
    const reply = await replyTo(question, handler && ((payload) => handler(payload, worker.id)));
    if (worker.isConnected()) worker.send(reply, undefined, () => undefined);
  }
}
