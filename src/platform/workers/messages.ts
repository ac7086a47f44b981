import cluster, { type Worker } from 'node:cluster';
import { isJsonObject, reasonOf } from '../shared/index.js';

/** A question between worker and primary. JSON only. */
export interface Question {
  readonly type: 'question';
  readonly id: number;
  readonly topic: string;
  readonly payload: unknown;
}

/** `failed` when there is no handler or it has thrown. */
export interface WorkerReply {
  readonly type: 'reply';
  readonly id: number;
  readonly payload?: unknown;
  readonly failed?: string;
}

export const isQuestion = (message: unknown): message is Question =>
  isJsonObject(message) && message['type'] === 'question' && typeof message['topic'] === 'string';

export const isWorkerReply = (message: unknown): message is WorkerReply =>
  isJsonObject(message) && message['type'] === 'reply' && typeof message['id'] === 'number';

/** Never rejects: a missing or failing handler is reported in the reply. */
export async function replyTo(
  { id, topic, payload }: Question,
  handler: ((payload: unknown) => unknown) | undefined,
): Promise<WorkerReply> {
  if (handler === undefined) return { type: 'reply', id, failed: `No handler for "${topic}".` };
  try {
    return { type: 'reply', id, payload: await handler(payload) };
  } catch (error) {
    return { type: 'reply', id, failed: reasonOf(error) };
  }
}

/** An order of the primary: stop in order; then, no longer wait for running calls. */
interface PrimaryOrder {
  readonly type: 'order';
  readonly order: 'stop' | 'hurry';
  /** Why the primary itself was asked to stop. */
  readonly why: string;
}

/** Whether this process was started by a primary. */
export const { isWorker } = cluster;

/** True in the first worker of a primary, and without workers. */
export const isFirst = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;

/** For a worker. Orders that arrived earlier are delivered too. */
export function onOrder(listener: (order: PrimaryOrder) => void): void {
  process.on('message', (message) => {
    if (isOrder(message)) listener(message);
  });
}

/** Node ends a worker at once when its primary dies, unless the worker appears to have disconnected itself. */
export function surviveLostPrimary(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
}

/** Does nothing for a worker that is exiting. */
export function sendOrder(worker: Worker, order: PrimaryOrder['order'], why: string): void {
  if (worker.isConnected())
    worker.send({ type: 'order', order, why } satisfies PrimaryOrder, undefined, () => undefined);
}

const isOrder = (message: unknown): message is PrimaryOrder =>
  isJsonObject(message) &&
  message['type'] === 'order' &&
  (message['order'] === 'stop' || message['order'] === 'hurry') &&
  typeof message['why'] === 'string';
