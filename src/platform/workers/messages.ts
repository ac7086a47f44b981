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
  readonly type: 'answer';
  readonly id: number;
  readonly payload?: unknown;
  readonly failed?: string;
}

export const isQuestion = (message: unknown): message is Question =>
  isJsonObject(message) && message['type'] === 'question' && typeof message['topic'] === 'string';

export const isWorkerReply = (message: unknown): message is WorkerReply =>
  isJsonObject(message) && message['type'] === 'answer' && typeof message['id'] === 'number';

/** Never rejects: a missing or failing handler is reported in the reply. */
export async function replyTo(
  { id, topic, payload }: Question,
  answerer: ((payload: unknown) => unknown) | undefined,
): Promise<WorkerReply> {
  if (answerer === undefined) return { type: 'answer', id, failed: `No handler for "${topic}".` };
  try {
    return { type: 'answer', id, payload: await answerer(payload) };
  } catch (error) {
    return { type: 'answer', id, failed: reasonOf(error) };
  }
}
