import type { AppError, JsonObject } from '../../platform/shared/index.js';
import {
  type CallEvent,
  type CallResult,
  eventsOf,
  itemId,
  NO_TOKENS,
  type PartStart,
  type ReasoningPart,
  type RenderContext,
  type ResponsePart,
  sseText,
  type StopReason,
  type StreamRenderer,
  type TokenUsage,
  type ToolCallPart,
} from '../contract/index.js';
import { builtInCall, isBuiltIn } from './built-in-tools.js';
import {
  BuiltInItem,
  CallItem,
  CompactionItem,
  EventLog,
  type ItemStatus,
  MessageItem,
  type ItemPosition,
  ReasoningItem,
} from './rendered-items.js';
import { compactsOnly } from './head.js';
import type { Replaced } from './request-input.js';
import { failureText, responseId, ResponseObject, type ResponseState } from './response-object.js';
import { writeUsage } from './usage.js';

type Item = MessageItem | CallItem | BuiltInItem | ReasoningItem | CompactionItem;

/** Reasons of incomplete responses; all others complete. */
const INCOMPLETE: Partial<Record<StopReason, string>> = {
  max_tokens: 'max_output_tokens',
  context: 'max_output_tokens',
  content_filter: 'content_filter',
};

export class ResponsesRenderer implements StreamRenderer {
  readonly #events = new EventLog();
  readonly #response: ResponseObject;
  /** Finished items as JSON. */
  readonly #output: string[] = [];
  /** An item ends when the next one starts or the response stops, which decides whether it is complete. */
  #item: Item | undefined;
  #part: PartStart['kind'] = 'text';
  /** Part of it was sent. */
  #isStarted = false;
  #stop: StopReason = 'end';
  #usage: TokenUsage | undefined;

  constructor(private readonly context: RenderContext) {
    this.#response = new ResponseObject(context.call, context.request);
  }

  get response(): string {
    const incompleteReason = INCOMPLETE[this.#stop];
    const status = incompleteReason === undefined ? 'completed' : 'incomplete';
    return this.#response.text({ status, incompleteReason, output: this.#output, usage: this.#usage ?? NO_TOKENS });
  }

  next(event: CallEvent): string {
    this.#read(event);
    const marker = event.type === 'call-end' ? sseText(undefined, '[DONE]') : '';
    return this.#events.take() + marker;
  }

  /** Open items stay open. */
  fail(error: AppError): string {
    const state: ResponseState = { status: 'failed', output: this.#output, usage: this.#usage };
    return failureText(this.context.call, error, this.#events.next, (failure) =>
      this.#response.text({ ...state, error: failure }),
    );
  }

  #read(event: CallEvent): void {
    switch (event.type) {
      case 'call-start':
        return this.#begin();
      case 'part-start':
        return this.#beginPart(event.start);
      case 'part-delta':
        return this.#delta(event.text);
      case 'part-annotation':
        if (this.#isStarted) this.#message('text').annotate(event.annotation);
        return;
      case 'part-end':
        return this.#endPart(event.part);
      case 'usage-update':
        this.#usage = event.usage;
        return;
      case 'call-stop':
        this.#stop = event.reason;
        if (event.reason === 'pause') this.context.warnings.warn('paused', 'status');
        return this.#closeItem(INCOMPLETE[event.reason] === undefined ? 'completed' : 'incomplete');
      case 'call-end':
        return this.#end();
      case 'part-seal':
        return;
      default:
        event satisfies never;
    }
  }

  #begin(): void {
    const response = this.#response.text({ status: 'in_progress', output: [] });
    this.#events.add('response.created', `"response":${response}`);
    this.#events.add('response.in_progress', `"response":${response}`);
  }

  #end(): void {
    const { response } = this;
    const type = INCOMPLETE[this.#stop] === undefined ? 'response.completed' : 'response.incomplete';
    this.#events.add(type, `"response":${response}`);
  }

  /** Calls are sent immediately, those of built-in tools as a whole. Other empty parts are not sent. */
  #beginPart(start: PartStart): void {
    this.#part = start.kind;
    this.#isStarted = false;
    if (start.kind !== 'tool-call') return;
    if (isBuiltIn(this.context.content.tools, start)) this.#closeItem('completed');
    else this.#open((place) => new CallItem(this.#events, place, start), start.isFreeform === true ? 'ctc_' : 'fc_');
  }

  #delta(text: string): void {
    this.#isStarted = true;
    switch (this.#part) {
      case 'text':
      case 'refusal':
        return this.#message(this.#part).delta(text);
      case 'reasoning':
        if (this.context.content.reasoning.show === 'text') this.#reasoning().delta(text);
        return;
      case 'tool-call':
        return this.#item?.delta(text);
      case 'compaction':
        return this.#compaction().delta();
      default:
        this.#part satisfies never;
    }
  }

  #endPart(part: ResponsePart): void {
    if (part.kind === 'reasoning') this.#endReasoning(part);
    else if (part.kind === 'compaction') this.#endCompaction(part.text);
    else if (part.kind === 'tool-call') this.#endCall(part);
    else if (this.#isStarted) this.#message(part.kind).endPart(part);
  }

  #endCall(part: ToolCallPart): void {
    const call = builtInCall(this.context.content.tools, part);
    if (call === undefined) return this.#call?.endPart(part);
    if (call.lacksArguments) this.context.warnings.warn('invalid_arguments', 'output');
    this.#open((place) => new BuiltInItem(this.#events, place, call.members), call.prefix).write();
  }

  #endReasoning(part: ReasoningPart): void {
    const { show } = this.context.content.reasoning;
    const isShown = show === 'text' && part.text !== '';
    const isSealed = show !== 'none' && part.opaque !== undefined;
    if (!isShown && !isSealed) return;
    this.#reasoning().endPart(part, part.opaque === undefined ? undefined : this.context.seal(part.opaque));
    this.#closeItem('completed');
  }

  #endCompaction(text: string): void {
    this.#compaction().endPart(sealSummary(this.context, text, 'all'));
    this.#closeItem('completed');
  }

  #compaction(): CompactionItem {
    const open = this.#item instanceof CompactionItem ? this.#item : undefined;
    return open ?? this.#open((place) => new CompactionItem(this.#events, place), 'cmp_');
  }

  #message(kind: 'text' | 'refusal'): MessageItem {
    const open = this.#item instanceof MessageItem ? this.#item : undefined;
    const message = open ?? this.#open((place) => new MessageItem(this.#events, place), 'msg_');
    message.begin(kind);
    return message;
  }

  #reasoning(): ReasoningItem {
    const open = this.#item instanceof ReasoningItem ? this.#item : undefined;
    return open ?? this.#open((place) => new ReasoningItem(this.#events, place), 'rs_');
  }

  get #call(): CallItem | undefined {
    return this.#item instanceof CallItem ? this.#item : undefined;
  }

  #open<Opened extends Item>(make: (place: ItemPosition) => Opened, prefix: string): Opened {
    this.#closeItem('completed');
    const index = this.#output.length;
    const item = make({ id: itemId(this.context.call, prefix, index), index });
    this.#item = item;
    this.#events.add('response.output_item.added', `"output_index":${index},"item":${JSON.stringify(item.empty)}`);
    return item;
  }

  #closeItem(status: ItemStatus): void {
    if (this.#item === undefined) return;
    const item = JSON.stringify(this.#item.whole(status));
    this.#events.add('response.output_item.done', `"output_index":${this.#output.length},"item":${item}`);
    this.#output.push(item);
    this.#item = undefined;
  }
}

const sealSummary = (context: RenderContext, text: string, replaced: Replaced): string =>
  context.seal({ kind: 'summary', family: '', data: replaced, text });

/** The messages of the user, and the compaction of everything. */
function renderCompaction({ parts, usage }: CallResult, context: RenderContext): string {
  const { call, content } = context;
  const text = parts.map((part) => (part.kind === 'compaction' ? part.text : '')).join('');
  const kept = (JSON.parse(content.compaction?.kept ?? '[]') as readonly JsonObject[]).map(
    ({ content: inner, ...item }, index) => ({
      type: 'message',
      id: itemId(call, 'msg_', index),
      status: 'completed',
      ...item,
      content: typeof inner === 'string' ? [{ type: 'input_text', text: inner }] : inner,
    }),
  );
  return JSON.stringify({
    id: responseId(call),
    object: 'response.compaction',
    created_at: Math.floor(call.createdAt / 1000),
    output: [
      ...kept,
      {
        type: 'compaction',
        id: itemId(call, 'cmp_', kept.length),
        encrypted_content: sealSummary(context, text, 'all but user messages'),
      },
    ],
    usage: writeUsage(usage ?? NO_TOKENS),
  });
}

/** Unstreamed responses are streams of which only the end is sent. */
export function renderWhole(result: CallResult, context: RenderContext): string {
  if (compactsOnly(context.call.request)) return renderCompaction(result, context);
  const renderer = new ResponsesRenderer(context);
  for (const event of eventsOf(result)) renderer.next(event);
  return renderer.response;
}
