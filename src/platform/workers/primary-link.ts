import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import cluster from 'node:cluster';
import { isQuestion, isWorkerReply, type Question, replyTo, type WorkerReply } from './messages.js';

interface Waiting {
  readonly resolve: (payload: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** There is no primary, or it has exited. */
export class NoPrimary extends Error {
  constructor() {
    super('This process has no primary.');
  }
}

/** A worker's connection to its primary. `connected` is always false without workers. */
@Injectable()
export class PrimaryLink implements OnApplicationShutdown {
  private readonly waiting = new Map<number, Waiting>();
  private readonly answerers = new Map<string, (payload: unknown) => unknown>();
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
   * Asks the primary (`WorkerLinks.answer`).
   * @throws NoPrimary, or an Error with the primary's reason
   */
  ask(topic: string, payload: unknown): Promise<unknown> {
    if (!this.connected) return Promise.reject(new NoPrimary());
    const id = (this.lastId += 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      process.send?.({ type: 'question', id, topic, payload } satisfies Question, undefined, undefined, (error) => {
        if (error !== null) this.settle(id, (asked) => asked.reject(error));
      });
    });
  }

  /** Registers the handler for questions of the primary on a topic (`WorkerLinks.askAll`); it may return a promise. */
  answer(topic: string, answerer: (payload: unknown) => unknown): void {
    this.answerers.set(topic, answerer);
  }

  onApplicationShutdown(): void {
    process.off('message', this.listen).off('disconnect', this.lose);
    this.lose();
  }

  private readonly listen = (message: unknown): void => {
    if (isWorkerReply(message)) this.settle(message.id, (asked) => conclude(asked, message));
    else if (isQuestion(message)) void this.reply(message);
  };

  private readonly lose = (): void => {
    for (const id of this.waiting.keys()) this.settle(id, ({ reject }) => reject(new NoPrimary()));
  };

  private async reply(question: Question): Promise<void> {
    const answer = await replyTo(question, this.answerers.get(question.topic));
    if (this.connected) process.send?.(answer, undefined, undefined, () => undefined);
  }

  private settle(id: number, conclusion: (asked: Waiting) => void): void {
    const asked = this.waiting.get(id);
    this.waiting.delete(id);
    if (asked !== undefined) conclusion(asked);
  }
}

function conclude({ resolve, reject }: Waiting, { payload, failed }: WorkerReply): void {
  if (failed === undefined) resolve(payload);
  else reject(new Error(failed));
}

@Module({ providers: [PrimaryLink], exports: [PrimaryLink] })
export class WorkersModule {}
