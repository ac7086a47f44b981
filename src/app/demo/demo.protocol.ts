/** What the demo server requires of a protocol, and shared event framing. */

import type { JsonObject } from '../../platform/shared/index.js';
import type { DemoQuestion, DemoRefusal, DemoResponse } from './demo.response.js';

/** An accepted request with its complete response. */
export interface DemoCall {
  /** 32 hexadecimal digits, unique; protocols add their prefixes. */
  readonly id: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly body: JsonObject;
  readonly question: DemoQuestion;
  readonly answer: DemoResponse;
}

/** A streamed response as encoded events. The server waits before every element of `pieces`. */
export interface DemoStream {
  readonly opening: readonly string[];
  /** One event per piece. */
  readonly pieces: readonly string[];
  readonly closing: readonly string[];
}

/** One wire format. Pure: no clock, no randomness, no I/O. */
export interface DemoProtocol {
  /** @throws DemoRefusal naming the field that is missing or malformed. */
  readQuestion(body: JsonObject): DemoQuestion;
  renderAnswer(call: DemoCall): JsonObject;
  renderStream(call: DemoCall): DemoStream;
  renderRefusal(refusal: DemoRefusal, requestId: string): JsonObject;
}

/** Encodes one server-sent event: LF only, one data line, blank line included. */
export function encodeEvent(data: JsonObject | string, event?: string): string {
  const payload = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${payload}\n\n`;
}
