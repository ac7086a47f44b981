import { isJsonObject } from '../shared/index.js';

/** What workers ask their primary. Everything in it is what JSON can say. */
export interface Question {
  readonly type: 'question';
  readonly id: number;
  readonly topic: string;
  readonly payload: unknown;
}

/** `failed` when the primary knows no answer. */
export interface Answer {
  readonly type: 'answer';
  readonly id: number;
  readonly payload?: unknown;
  readonly failed?: string;
}

export const isQuestion = (message: unknown): message is Question =>
  isJsonObject(message) && message['type'] === 'question' && typeof message['topic'] === 'string';

export const isAnswer = (message: unknown): message is Answer =>
  isJsonObject(message) && message['type'] === 'answer' && typeof message['id'] === 'number';
