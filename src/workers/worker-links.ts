import cluster, { type Worker } from 'node:cluster';
import { reasonOf } from '../shared/index.js';
import { type Answer, isQuestion, type Question } from './messages.js';

/** @param worker the number of who asks, of its own for each process that was started */
type Answerer = (payload: unknown, worker: number) => unknown;

/** The primary's side of the way between it and its workers. */
export class WorkerLinks {
  private readonly answerers = new Map<string, Answerer>();
  private readonly goneListeners: ((worker: number) => void)[] = [];

  constructor() {
    cluster.on('message', (worker, message: unknown) => {
      if (isQuestion(message)) void this.reply(worker, message);
    });
    cluster.on('exit', ({ id }) => this.goneListeners.forEach((listener) => listener(id)));
  }

  /** Answers what workers ask on a topic; an answer may be promised. */
  answer(topic: string, answerer: Answerer): void {
    this.answerers.set(topic, answerer);
  }

  /** Told of every worker that has ended, however it did: what it had is free again. */
  onGone(listener: (worker: number) => void): void {
    this.goneListeners.push(listener);
  }

  private async reply(worker: Worker, question: Question): Promise<void> {
    const answer = await this.answerTo(question, worker.id);
    if (worker.isConnected()) worker.send(answer, undefined, () => undefined);
  }

  private async answerTo({ id, topic, payload }: Question, worker: number): Promise<Answer> {
    const answerer = this.answerers.get(topic);
    if (answerer === undefined) return { type: 'answer', id, failed: `Nobody answers on "${topic}".` };
    try {
      return { type: 'answer', id, payload: await answerer(payload, worker) };
    } catch (error) {
      return { type: 'answer', id, failed: reasonOf(error) };
    }
  }
}
