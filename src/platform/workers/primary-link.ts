import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import cluster from 'node:cluster';
import { isQuestion, isWorkerReply, type Question, replyTo, type WorkerReply } from './messages.js';

interface PendingRequest {
  readonly resolve: (payload: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** There is no primary, or it has exited. */
export class PrimaryUnavailable extends Error {
  constructor() {
    super('This process has no primary.');
  }
}

/** A worker's connection to its primary. `connected` is always false without workers. */
@Injectable()
export class PrimaryLink implements OnApplicationShutdown {
  private readonly waiting = new Map<number, PendingRequest>();
  private readonly handlers = new Map<string, (payload: unknown) => unknown>();
  private lastId = 0;

  constructor() {
    if (!cluster.isWorker) return;
    process.on('message', this.listen);
    process.on('disconnect', this.lose);
  }

  get connected(): boolean {
    return cluster.isWorker && process.connected;
  }

  /**
   * Asks the primary (`WorkerLinks.handle`).
   * @throws PrimaryUnavailable, or an Error with the primary's reason
   */
  ask(topic: string, payload: unknown): Promise<unknown> {
    if (!this.connected) return Promise.reject(new PrimaryUnavailable());
    const id = (this.lastId += 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      process.send?.({ type: 'question', id, topic, payload } satisfies Question, undefined, undefined, (error) => {
        if (error !== null) this.settle(id, (waiting) => waiting.reject(error));
      });
    });
  }

  /** Registers the handler for questions of the primary on a topic (`WorkerLinks.askAll`); it may return a promise. */
  handle(topic: string, handler: (payload: unknown) => unknown): void {
    this.handlers.set(topic, handler);
  }

  onApplicationShutdown(): void {
    process.off('message', this.listen).off('disconnect', this.lose);
    this.lose();
  }

  private readonly listen = (message: unknown): void => {
    if (isWorkerReply(message)) this.settle(message.id, (waiting) => conclude(waiting, message));
    else if (isQuestion(message)) void this.reply(message);
  };

  private readonly lose = (): void => {
    for (const id of this.waiting.keys()) this.settle(id, ({ reject }) => reject(new PrimaryUnavailable()));
  };

  private async reply(question: Question): Promise<void> {
    const reply = await replyTo(question, this.handlers.get(question.topic));
    if (this.connected) process.send?.(reply, undefined, undefined, () => undefined);
  }

  private settle(id: number, conclusion: (waiting: PendingRequest) => void): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (waiting !== undefined) conclusion(waiting);
  }
}

function conclude({ resolve, reject }: PendingRequest, { payload, failed }: WorkerReply): void {
  if (failed === undefined) resolve(payload);
  else reject(new Error(failed));
}

@Module({ providers: [PrimaryLink], exports: [PrimaryLink] })
export class WorkersModule {}
