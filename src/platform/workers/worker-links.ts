import cluster, { type Worker } from 'node:cluster';
import { within } from '../shared/index.js';
import { isWorkerReply, isQuestion, type Question, replyTo } from './messages.js';

/** @param worker id of the asking worker, unique per started process */
type Answerer = (payload: unknown, worker: number) => unknown;

/** The primary's side of messages to and from its workers. */
export class WorkerLinks {
  private readonly answerers = new Map<string, Answerer>();
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
  answer(topic: string, answerer: Answerer): void {
    this.answerers.set(topic, answerer);
  }

  /** Called when a worker has exited for any reason: what it held is free again. */
  onGone(listener: (worker: number) => void): void {
    this.goneListeners.push(listener);
  }

  /**
   * Asks every worker on a topic (`PrimaryLink.answer`). Returns the replies by worker id; undefined for workers that
   * failed, exited or took longer than `waitMs`.
   */
  async askAll(topic: string, payload: unknown, waitMs: number): Promise<ReadonlyMap<number, unknown>> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true);
    const answers = workers.map(async (worker) => {
      return worker && ([worker.id, await this.ask(worker, topic, payload, waitMs)] as const);
    });
    return new Map((await Promise.all(answers)).filter((answer) => answer !== undefined));
  }

  private async ask(worker: Worker, topic: string, payload: unknown, waitMs: number): Promise<unknown> {
    const id = (this.lastId += 1);
    const answered = new Promise<unknown>((resolve) => {
      this.waiting.set(id, resolve);
      worker.send({ type: 'question', id, topic, payload } satisfies Question, undefined, (error) => {
        if (error !== null) resolve(undefined);
      });
    });
    try {
      return await within(answered, waitMs);
    } finally {
      this.waiting.delete(id);
    }
  }

  private async reply(worker: Worker, question: Question): Promise<void> {
    const answerer = this.answerers.get(question.topic);
    const answer = await replyTo(question, answerer && ((payload) => answerer(payload, worker.id)));
    if (worker.isConnected()) worker.send(answer, undefined, () => undefined);
  }
}
