import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyInnerError,
  countIn,
  dataKind,
  eventTypeReader,
  jsonInterests,
  objectIn,
  parseData,
  parseJsonTree,
  passUnlessError,
  readData,
  readResponseFields,
  ResultCollector,
  type SseEvent,
  type StreamDecoder,
  type TreeObject,
  truncatedStream,
  unreadableEvent,
  type UpstreamTarget,
  withoutRootCombinators,
} from '../contract/index.js';
import { requestedThinking } from './build-thinking.js';
import { messagesFlags, type MessagesFlags } from './flags.js';
import { MessagesResponseReader } from './response-reader.js';

const RESPONSE = jsonInterests('usage', 'error');
/** Arguments are kept as text. */
const INPUT: ReadonlySet<string> = new Set(['input']);

const typeOf = eventTypeReader('message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|error');

export class MessagesDecoder implements StreamDecoder {
  readonly #response: MessagesResponseReader;
  readonly #map: (event: CallEvent) => CallEvent;
  #isOver = false;

  constructor(content: CallContent, target: UpstreamTarget) {
    this.#response = new MessagesResponseReader(content, target);
    this.#map = eventMapper(content, target);
  }

  next(event: SseEvent): readonly CallEvent[] {
    const kind = dataKind(event);
    // Some servers send another protocol's marker.
    if (this.#isOver || kind === 'done' || kind === 'none') return [];
    if (kind === 'other') throw unreadableEvent();
    const type = typeOf(event);
    if (type === 'error') throw classifyInnerError(parseData(event));
    if (type !== undefined) return [...this.#response.begin(), ...this.#read(type, event)].map(this.#map);
    passUnlessError(event);
    return [];
  }

  end(): readonly CallEvent[] {
    if (this.#isOver) return [];
    throw truncatedStream();
  }

  #read(type: string, event: SseEvent): CallEvent[] {
    const data = type === 'content_block_start' ? readWithInput(event) : readData(event);
    const key = String(countIn(data, 'index'));
    switch (type) {
      case 'message_start':
        return this.#response.report(objectIn(data, 'message'), false);
      case 'content_block_start':
        return this.#response.open(key, objectIn(data, 'content_block'));
      case 'content_block_delta':
        return this.#response.delta(key, objectIn(data, 'delta'));
      case 'content_block_stop':
        return this.#response.close(key);
      case 'message_delta':
        this.#response.stop(objectIn(data, 'delta'));
        return this.#response.report(data, true);
      default:
        this.#isOver = true;
        return this.#response.finish();
    }
  }
}

/** Decoded as a stream of its blocks. @throws AppError as `UpstreamAdapter.decodeResponse` */
export function decodeMessagesResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
  readResponseFields(Buffer.from(body), RESPONSE);
  const message = readTree(body);
  const blocks = message['content'];
  if (!Array.isArray(blocks) && typeof message['stop_reason'] !== 'string') {
    throw new AppError('upstream_error', 'The upstream response has the format of another protocol.', {
      failover: true,
    });
  }
  const reader = new MessagesResponseReader(content, target);
  const collector = new ResultCollector();
  const mapped = eventMapper(content, target);
  const collect = (events: readonly CallEvent[]): void => events.forEach((event) => collector.next(mapped(event)));
  collect(reader.begin());
  for (const [index, block] of (Array.isArray(blocks) ? (blocks as unknown[]) : []).entries()) {
    const key = String(index);
    if (isJsonObject(block)) collect([...reader.open(key, block), ...reader.close(key)]);
  }
  reader.stop(message);
  collect([...reader.report(message, true), ...reader.finish()]);
  return collector.result;
}

function readTree(body: string): JsonObject {
  try {
    return parseJsonTree(body, INPUT) as JsonObject;
  } catch (cause) {
    throw new AppError('upstream_error', 'The upstream response cannot be parsed.', { failover: true }, { cause });
  }
}

function readWithInput(event: SseEvent): JsonObject {
  // Raw text is not inspected.
  readData(event);
  try {
    return parseJsonTree(event.data, INPUT) as JsonObject;
  } catch {
    throw unreadableEvent();
  }
}

// Structured output by tool: models without schemas for responses are forced to call a tool with the schema, and its
// arguments become the response.

export const RESPOND = 'respond';
export const FORCED_RESPOND: TreeObject = { type: 'tool', name: RESPOND };

/** Not possible with other tools or reasoning. */
export function respondsByTool({ format, tools, hostedTools, reasoning }: CallContent, flags: MessagesFlags): boolean {
  if (flags.takesFormats || format.kind !== 'schema' || tools.length + hostedTools.length > 0) return false;
  const mode = flags.thinkingMode;
  if (mode === 'always' || (mode !== 'none' && requestedThinking(reasoning) === 'on')) return false;
  return format.schema.value['type'] === 'object' && withoutRootCombinators(format.schema) === undefined;
}

const asText = (event: CallEvent): CallEvent => {
  switch (event.type) {
    case 'part-start':
      return isRespond(event.start) ? { type: 'part-start', start: { kind: 'text' } } : event;
    case 'part-end':
      return event.part.kind === 'tool-call' && isRespond(event.part)
        ? { type: 'part-end', part: { kind: 'text', text: event.part.arguments } }
        : event;
    case 'call-stop':
      return event.reason === 'tool_calls' ? { type: 'call-stop', reason: 'end' } : event;
    default:
      return event;
  }
};

const isRespond = (call: { readonly kind: string; readonly name?: string }): boolean =>
  call.kind === 'tool-call' && call.name === RESPOND;

/** The identity unless structured output uses a tool. */
const eventMapper = (content: CallContent, target: UpstreamTarget): ((event: CallEvent) => CallEvent) =>
  respondsByTool(content, messagesFlags(target)) ? asText : (event) => event;
