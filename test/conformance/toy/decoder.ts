import { AppError, isJsonObject, type JsonObject } from '../../../src/platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyUpstream,
  dataKind,
  parseData,
  PartSequencer,
  type PartStart,
  ResultCollector,
  type SseEvent,
  type StreamDecoder,
  type ToolNames,
  truncatedStream,
  unreadableEvent,
  unwrapFreeform,
} from '../../../src/protocols/contract/index.js';
import { toolNames } from './build.js';
import { stopOf, usageIn } from './wire.js';

/**
 * Decodes one stream. The client is waiting, so each event is returned as soon as it can be.
 *
 * Lenient: unknown events and members, empty events, and everything after the end are ignored. Strict where the client
 * would get a wrong response: data that is not JSON, the vendor's errors and an early end throw.
 */
export class TelegraphDecoder implements StreamDecoder {
  private readonly parts: PartSequencer;
  private readonly names: ToolNames;
  /** Also the key of the open line: `PartSequencer` identifies parts by keys of the decoder's choice. */
  private lines = 0;
  private kind: PartStart['kind'] | undefined;
  /** Arguments of a freeform tool: the text is inside JSON, which must be complete before it can be unwrapped. */
  private wrapped: string | undefined;
  private stage: 'new' | 'open' | 'over' = 'new';

  constructor(content: CallContent) {
    this.parts = new PartSequencer(content);
    this.names = toolNames(content);
  }

  next(event: SseEvent): readonly CallEvent[] {
    if (this.stage === 'over' || dataKind(event) === 'none') return [];
    const said = parseData(event);
    if (said === undefined) throw unreadableEvent();
    return this.read(said);
  }

  /** The upstream closed the connection. */
  end(): readonly CallEvent[] {
    if (this.stage === 'over') return [];
    throw truncatedStream();
  }

  /** A whole response has the same pieces: the lines, then the end. */
  whole({ lines, ...ending }: JsonObject): readonly CallEvent[] {
    const said = Array.isArray(lines) ? lines.filter(isJsonObject) : [];
    return [...said, ending].flatMap((piece) => this.read(piece));
  }

  /** Returns no events for a piece of unknown form. */
  private read({ from, text, call, tool, arguments: written, ...rest }: JsonObject): CallEvent[] {
    if (isJsonObject(rest['error'])) throw failure(rest['error']);
    const events: CallEvent[] = this.stage === 'new' ? [{ type: 'call-start' }] : [];
    this.stage = 'open';
    if (typeof text === 'string') events.push(...this.text(text, from !== undefined));
    if (typeof tool === 'string') events.push(...this.call(tool, typeof call === 'string' ? call : ''));
    if (typeof written === 'string') events.push(...this.arguments(written));
    if (typeof rest['end'] === 'string') events.push(...this.finish(rest['end'], rest));
    return events;
  }

  private text(text: string, begins: boolean): CallEvent[] {
    const begun = begins || this.kind !== 'text' ? this.begin({ kind: 'text' }) : [];
    return [...begun, ...this.parts.append(String(this.lines), text)];
  }

  private call(tool: string, id: string): CallEvent[] {
    // A name that the model made up is kept.
    const { name, namespace, freeform } = this.names.toolOf(tool);
    const isFreeform = freeform === undefined ? undefined : true;
    const begun = this.begin({ kind: 'tool-call', id, name, namespace, isFreeform });
    this.wrapped = isFreeform && '';
    return begun;
  }

  private arguments(text: string): CallEvent[] {
    if (this.wrapped === undefined) return this.parts.append(String(this.lines), text);
    this.wrapped += text;
    return [];
  }

  private begin(start: PartStart): CallEvent[] {
    const closed = this.close();
    this.kind = start.kind;
    this.lines += 1;
    return [...closed, ...this.parts.start(String(this.lines), start)];
  }

  private close(): CallEvent[] {
    const key = String(this.lines);
    const reported = this.wrapped === undefined ? [] : this.parts.append(key, unwrapFreeform(this.wrapped));
    this.wrapped = undefined;
    return [...reported, ...this.parts.finish(key)];
  }

  private finish(end: string, response: JsonObject): CallEvent[] {
    this.stage = 'over';
    const usage = usageIn(response);
    return [
      ...this.close(),
      { type: 'call-stop', reason: stopOf(end) },
      ...(usage === undefined ? [] : [{ type: 'usage-update' as const, usage }]),
      { type: 'call-end' },
    ];
  }
}

/**
 * Decodes a whole response with the stream decoder. If a vendor sends arguments as an object, parse the body with
 * `parseJsonTree` and name that member, so that their text stays as the model wrote it.
 *
 * @throws AppError if the body is an error with status 200, or not a response
 */
export function decodeTelegram(body: string, content: CallContent): CallResult {
  const decoder = new TelegraphDecoder(content);
  const collector = new ResultCollector();
  for (const event of decoder.whole(parseResponse(body))) collector.next(event);
  decoder.end();
  return collector.result;
}

function parseResponse(body: string): JsonObject {
  try {
    const response: unknown = JSON.parse(body);
    if (isJsonObject(response)) return response;
  } catch {
    // Handled below, with JSON that is not an object.
  }
  throw new AppError('upstream_error', 'The upstream sent a response that is not a JSON object.', { failover: true });
}

/**
 * Classifies an error inside a stream by the status in it. Without one, `classifyInnerError` derives it from the code.
 * Vendor messages may contain keys and hosts: never copy one into an `AppError`, `classifyUpstream` scrubs it.
 */
const failure = (error: JsonObject): AppError =>
  classifyUpstream(typeof error['status'] === 'number' ? error['status'] : 500, {}, { error });
