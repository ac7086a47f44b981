import { AppError, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyInnerError,
  dataKind,
  invalidResponse,
  isKeepAlive,
  objectIn,
  parseResponse,
  readData,
  resultOf,
  type SseEvent,
  type StopReason,
  type StreamDecoder,
  truncatedStream,
  type UpstreamTarget,
} from '../contract/index.js';
import { ResponseItems } from './decoded-items.js';
import { countTools, type ToolUses, usageIn } from './usage.js';

/** Reasons of incomplete responses. */
const REASONS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ['max_output_tokens', 'max_tokens'],
  ['content_filter', 'content_filter'],
]);

export class ResponsesDecoder implements StreamDecoder {
  private readonly items: ResponseItems;
  private hasBegun = false;
  private isOver = false;
  /** Counted during the stream, for servers whose final event has no output. */
  private toolUses: ToolUses | undefined;

  constructor(content: CallContent, target: UpstreamTarget) {
    this.items = new ResponseItems(content, target.family);
  }

  next(event: SseEvent): readonly CallEvent[] {
    const kind = dataKind(event);
    if (this.isOver || kind === 'done' || kind === 'none') return [];
    const data = readData(event);
    const type = typeof data['type'] === 'string' ? data['type'] : (event.name ?? '');
    const events = this.read(type, data);
    return this.hasBegun || isKeepAlive(type) ? events : [...this.begin(), ...events];
  }

  end(): readonly CallEvent[] {
    if (!this.isOver) throw truncatedStream();
    return [];
  }

  response(response: JsonObject): readonly CallEvent[] {
    if (response['status'] === 'failed') throw failed(response);
    const output = Array.isArray(response['output']) ? (response['output'] as readonly unknown[]) : [];
    const unseen = this.items.isEmpty ? output : [];
    const items = unseen.flatMap((item, index) => this.items.done({ output_index: index, item }));
    const usage = usageIn(response, countTools(output) ?? this.toolUses);
    this.isOver = true;
    return [
      ...this.begin(),
      ...items,
      ...this.items.finish(),
      { type: 'call-stop', reason: this.stopOf(response) },
      ...(usage === undefined ? [] : [{ type: 'usage-update', usage } as const]),
      { type: 'call-end' },
    ];
  }

  private begin(): CallEvent[] {
    if (this.hasBegun) return [];
    this.hasBegun = true;
    return [{ type: 'call-start' }];
  }

  private read(type: string, data: JsonObject): readonly CallEvent[] {
    switch (type) {
      case 'response.output_item.added':
        return this.items.added(data);
      case 'response.content_part.done':
        return this.items.contentDone(data);
      case 'response.output_item.done':
        this.toolUses = countTools([data['item']], this.toolUses);
        return this.items.done(data);
      case 'response.completed':
      case 'response.incomplete':
        return this.response(objectIn(data, 'response'));
      case 'response.failed':
        throw failed(objectIn(data, 'response'));
      case 'error':
        throw classifyInnerError(data);
      default:
        return this.items.delta(type, data) ?? ignored(data);
    }
  }

  private stopOf(response: JsonObject): StopReason {
    const reason = REASONS.get(objectIn(response, 'incomplete_details')['reason']);
    if (reason !== undefined) return reason;
    if (this.items.callCount > 0) return 'tool_calls';
    return this.items.hasRefusal ? 'refusal' : 'end';
  }
}

/** @throws AppError when it is an error in disguise, or not a JSON object */
export function decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
  const response = parseResponse(body);
  if (response['error']) throw failed(response);
  if (!Array.isArray(response['output']) && typeof response['status'] !== 'string') {
    throw invalidResponse('a response in the format of another protocol');
  }
  return resultOf(new ResponsesDecoder(content, target).response(response));
}

const failed = (response: JsonObject): AppError => classifyInnerError({ error: response['error'] ?? {} });

/** @throws AppError when it is an error in another protocol's form */
function ignored(data: JsonObject): readonly CallEvent[] {
  if (data['error']) throw failed(data);
  return [];
}
