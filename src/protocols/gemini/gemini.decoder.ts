import {
  dataKind,
  parseJsonTree,
  ResultCollector,
  unreadableEvent,
  type CallContent,
  type CallEvent,
  type CallResult,
  type SseEvent,
  type StreamDecoder,
  type UpstreamTarget,
} from '../contract/index.js';
import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { GeminiResponseReader } from './gemini.response-reader.js';

/** Reads the events of one answer: each is a whole response, and the stream ends by closing. */
export class GeminiDecoder implements StreamDecoder {
  readonly #answer: GeminiResponseReader;

  constructor(content: CallContent, target: UpstreamTarget) {
    this.#answer = new GeminiResponseReader(content, target);
  }

  next(event: SseEvent): readonly CallEvent[] {
    const kind = dataKind(event);
    // The marker is another dialect's; some servers send it here as well.
    if (kind === 'none' || kind === 'done') return [];
    const response = parseResponse(event.data);
    if (response === undefined) throw unreadableEvent();
    return this.#answer.next(response);
  }

  end(): readonly CallEvent[] {
    return this.#answer.end();
  }
}

/** A whole answer. @throws AppError as `UpstreamAdapter.decodeResponse` */
export function decodeGeminiResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
  const response = parseResponse(body);
  if (response === undefined) {
    const message = 'The upstream sent a response that is not a JSON object.';
    throw new AppError('upstream_error', message, { failover: true });
  }
  const collector = new ResultCollector();
  for (const event of new GeminiResponseReader(content, target).whole(response)) collector.next(event);
  return collector.result;
}

/** Arguments, which stay as the model wrote them. */
const ARGUMENTS: ReadonlySet<string> = new Set(['args']);

/** A response, also one that stands in a list; undefined for what cannot be read. */
function parseResponse(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    // What is kept as its text is not looked into: its grammar has been checked by now.
    const response: unknown = text.includes('"functionCall"') ? parseJsonTree(text, ARGUMENTS) : parsed;
    const first: unknown = Array.isArray(response) ? response[0] : response;
    return isJsonObject(first) ? first : undefined;
  } catch {
    return undefined;
  }
}
