import cluster, { type Worker } from 'node:cluster';
import { isJsonObject } from '../shared/index.js';

/** What a primary tells a worker: to stop in order; then, not to wait any longer for what still runs. */
export interface Order {
  readonly type: 'order';
  readonly order: 'stop' | 'hurry';
  /** What the primary was told itself. */
  readonly why: string;
}

/** Whether this process was started by a primary, and not by a person. */
export const { isWorker } = cluster;

/** Of the workers of a primary the one that was started first, and alone; the one process that there is, elsewhere. */
export const isFirst = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;

/** For a worker. Orders that came before are heard too. */
export function onOrder(listener: (order: Order) => void): void {
  process.on('message', (message) => {
    if (isOrder(message)) listener(message);
  });
}

/** A worker whose primary dies is ended on the spot by Node, unless it seems to have let go of it by itself. */
export function outliveThePrimary(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
}

/** A worker that is on its way out need not hear it. */
export function give(worker: Worker, order: Order['order'], why: string): void {
  if (worker.isConnected()) worker.send({ type: 'order', order, why } satisfies Order, undefined, () => undefined);
}

const isOrder = (message: unknown): message is Order =>
  isJsonObject(message) &&
  message['type'] === 'order' &&
  (message['order'] === 'stop' || message['order'] === 'hurry') &&
  typeof message['why'] === 'string';
