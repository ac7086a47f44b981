import {
  type CallEvent,
  isTreeObject,
  NO_TOKENS,
  type PartStart,
  type RenderContext,
  type StopReason,
  sseText,
  type StreamRenderer,
  type TokenUsage,
  type TreeObject,
} from '../contract/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import { annotationOf, responseHead, finishReason, streamFailure } from './chat-completions.response-members.js';
import { isLegacy } from './chat-completions.requested-tools.js';
import { renderUsage } from './chat-completions.usage.js';

/** The JSON around the pieces of one part. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

/** Writes an answer as chunks. Those of one part differ in their piece alone: what stands around it is written once. */
export class ChatRenderer implements StreamRenderer {
  private readonly head: JsonObject;
  /** A chunk up to the members of its delta, and behind them. */
  private readonly opening: string;
  private readonly closing: string;
  private readonly wantsUsage: boolean;
  private readonly isLegacy: boolean;
  /** Of the part that is being written; undefined when the client is not to see it. */
  private frame: Frame | undefined;
  private calls = 0;
  private stop: StopReason = 'end';
  private usage: TokenUsage = NO_TOKENS;

  constructor(private readonly context: RenderContext) {
    const { call, request } = context;
    this.wantsUsage = wantsUsage(request);
    this.isLegacy = isLegacy(request);
    this.head = responseHead(call, 'chat.completion.chunk');
    this.opening = `${JSON.stringify(this.head).slice(0, -1)},"choices":[{"index":0,"delta":{`;
    this.closing = this.closingWith(null);
  }

  next(event: CallEvent): string {
    switch (event.type) {
      case 'call-start':
        return this.chunk('"role":"assistant","content":""');
      case 'part-start':
        return this.begin(event.start);
      case 'part-delta':
        return this.frame === undefined ? '' : piece(this.frame, event.text);
      case 'part-annotation':
        return this.chunk(`"annotations":${JSON.stringify([annotationOf(event.annotation)])}`);
      case 'part-seal':
      case 'part-end':
        return '';
      case 'usage-update':
        this.usage = event.usage;
        return '';
      case 'call-stop':
        this.stop = event.reason;
        return '';
      case 'call-end':
        return this.end();
      default:
        return event satisfies never;
    }
  }

  fail(error: AppError): string {
    return streamFailure(this.context.call, error);
  }

  private begin(start: PartStart): string {
    switch (start.kind) {
      case 'text':
        this.frame = this.around('"content":');
        return '';
      case 'refusal':
        this.frame = this.around('"refusal":');
        return '';
      case 'reasoning':
        this.frame = this.context.content.reasoning.show === 'text' ? this.around('"reasoning_content":') : undefined;
        return '';
      case 'tool-call':
        return this.beginCall(start);
      default:
        return start satisfies never;
    }
  }

  /** Id, type and name are said once: strict clients see another call in each repetition. */
  private beginCall({ id, name, isFreeform }: PartStart & { readonly kind: 'tool-call' }): string {
    const index = this.calls;
    this.calls += 1;
    if (this.isLegacy) return this.beginLegacyCall(name, index);
    const [type, member] = isFreeform === true ? ['custom', 'input'] : ['function', 'arguments'];
    this.frame = this.around(`"tool_calls":[{"index":${index},"${type}":{"${member}":`, '}}]');
    return this.chunk(`"tool_calls":${JSON.stringify([{ index, id, type, [type]: { name, [member]: '' } }])}`);
  }

  /** The legacy form has room for one. */
  private beginLegacyCall(name: string, index: number): string {
    this.frame = index === 0 ? this.around('"function_call":{"arguments":', '}') : undefined;
    return index === 0 ? this.chunk(`"function_call":${JSON.stringify({ name, arguments: '' })}`) : '';
  }

  private end(): string {
    const finish = sseText(undefined, this.opening + this.closingWith(finishReason(this.stop, this.context)));
    const usage = { ...this.head, choices: [], usage: renderUsage(this.usage) };
    return `${finish}${this.wantsUsage ? sseText(undefined, JSON.stringify(usage)) : ''}${sseText(undefined, '[DONE]')}`;
  }

  private chunk(members: string): string {
    return sseText(undefined, this.opening + members + this.closing);
  }

  private around(before: string, after = ''): Frame {
    return { before: this.opening + before, after: after + this.closing };
  }

  private closingWith(finish: string | null): string {
    return `},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]${this.wantsUsage ? ',"usage":null' : ''}}`;
  }
}

const piece = ({ before, after }: Frame, text: string): string =>
  sseText(undefined, before + JSON.stringify(text) + after);

/** Read from the request itself, which may have come in the form of another dialect. */
const wantsUsage = ({ stream_options: options }: TreeObject): boolean =>
  isTreeObject(options) && options['include_usage'] === true;
