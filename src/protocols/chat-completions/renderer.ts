import type { AppError, JsonObject } from '../../platform/shared/index.js';
import {
  type Annotation,
  cacheWrites,
  type Call,
  type CallEvent,
  type CallResult,
  isTreeObject,
  newResponseId,
  NO_TOKENS,
  openAiErrorBody,
  type PartStart,
  type RenderContext,
  type ResponsePart,
  sseText,
  type StopReason,
  type StreamRenderer,
  type TextPart,
  type TokenUsage,
  type ToolCallPart,
  type TreeObject,
  withPasses,
} from '../contract/index.js';
import { isLegacy } from './request-tools.js';
import { FINISH_REASONS } from './wire.js';

/** JSON around the deltas of a part. */
interface DeltaTemplate {
  readonly before: string;
  readonly after: string;
}

/** Renders chunks. Within a part only the delta differs, so the JSON around it is built once. */
export class ChatRenderer implements StreamRenderer {
  private readonly head: JsonObject;
  /** JSON of a chunk around the members of its delta. */
  private readonly opening: string;
  private readonly closing: string;
  private readonly wantsUsage: boolean;
  private readonly isLegacy: boolean;
  /** Undefined if the current part is hidden. */
  private template: DeltaTemplate | undefined;
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
        return this.template === undefined ? '' : piece(this.template, event.text);
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
        this.template = this.around('"content":');
        return '';
      case 'refusal':
        this.template = this.around('"refusal":');
        return '';
      case 'reasoning':
        this.template =
          this.context.content.reasoning.show === 'text' ? this.around('"reasoning_content":') : undefined;
        return '';
      case 'tool-call':
        return this.beginCall(start);
      case 'compaction':
        throw new TypeError('Chat Completions has no compaction.');
      default:
        return start satisfies never;
    }
  }

  /** ID, type and name only come first: strict clients treat a repetition as another call. */
  private beginCall({ id, name, isFreeform }: PartStart & { readonly kind: 'tool-call' }): string {
    const index = this.calls;
    this.calls += 1;
    if (this.isLegacy) return this.beginLegacyCall(name, index);
    const [type, member] = isFreeform === true ? ['custom', 'input'] : ['function', 'arguments'];
    this.template = this.around(`"tool_calls":[{"index":${index},"${type}":{"${member}":`, '}}]');
    return this.chunk(`"tool_calls":${JSON.stringify([{ index, id, type, [type]: { name, [member]: '' } }])}`);
  }

  /** The legacy form supports one call. */
  private beginLegacyCall(name: string, index: number): string {
    this.template = index === 0 ? this.around('"function_call":{"arguments":', '}') : undefined;
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

  private around(before: string, after = ''): DeltaTemplate {
    return { before: this.opening + before, after: after + this.closing };
  }

  private closingWith(finish: string | null): string {
    return `},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]${this.wantsUsage ? ',"usage":null' : ''}}`;
  }
}

const piece = ({ before, after }: DeltaTemplate, text: string): string =>
  sseText(undefined, before + JSON.stringify(text) + after);

/** The original request may be of another protocol. */
const wantsUsage = ({ stream_options: options }: TreeObject): boolean =>
  isTreeObject(options) && options['include_usage'] === true;

export function renderChatResponse({ parts, stop, usage }: CallResult, context: RenderContext): string {
  const message = messageOf(parts, context);
  const finish_reason = finishReason(stop, context);
  return JSON.stringify({
    ...responseHead(context.call, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: renderUsage(usage ?? NO_TOKENS),
  });
}

function messageOf(parts: readonly ResponsePart[], { request, content }: RenderContext): JsonObject {
  const texts = parts.filter((part) => part.kind === 'text');
  const calls = parts.filter((part) => part.kind === 'tool-call');
  const refusal = textOf(parts, 'refusal');
  const reasoning = content.reasoning.show === 'text' ? textOf(parts, 'reasoning') : '';
  const hasNoContent = texts.length === 0 && (calls.length > 0 || refusal !== '');
  return {
    role: 'assistant',
    content: hasNoContent ? null : textOf(texts, 'text'),
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...annotationsOf(texts),
    ...(isLegacy(request) ? legacyCall(calls) : toolCalls(calls)),
  };
}

const textOf = (parts: readonly ResponsePart[], kind: 'text' | 'refusal' | 'reasoning'): string =>
  parts.map((part) => (part.kind === kind ? part.text : '')).join('');

function annotationsOf(texts: readonly TextPart[]): JsonObject {
  const annotations = texts.flatMap((text) => text.annotations ?? []).map(annotationOf);
  return annotations.length === 0 ? {} : { annotations };
}

/** Some clients treat an empty list as calls. */
function toolCalls(calls: readonly ToolCallPart[]): JsonObject {
  if (calls.length === 0) return {};
  return {
    tool_calls: calls.map(({ id, name, arguments: text, isFreeform }) =>
      isFreeform === true
        ? { id, type: 'custom', custom: { name, input: text } }
        : { id, type: 'function', function: { name, arguments: text } },
    ),
  };
}

function legacyCall([call]: readonly ToolCallPart[]): JsonObject {
  return call === undefined ? {} : { function_call: { name: call.name, arguments: call.arguments } };
}

const responseHead = (call: Call, object: string): JsonObject => ({
  id: newResponseId(call, 'chatcmpl-'),
  object,
  created: Math.floor(call.createdAt / 1000),
  model: call.head.model,
});

/** Positions are unknown here, but clients require the members. */
const annotationOf = ({ url, title }: Annotation): JsonObject => ({
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 0, url, title },
});

function finishReason(stop: StopReason, { request, warnings }: RenderContext): string {
  if (stop === 'pause') warnings.warn('paused', 'finish_reason');
  return stop === 'tool_calls' && isLegacy(request) ? 'function_call' : FINISH_REASONS[stop];
}

/** One event and no `[DONE]`: clients that ignore the error must still see an unfinished stream. */
export const streamFailure = (call: Call, error: AppError): string =>
  sseText(undefined, JSON.stringify({ error: openAiErrorBody(error, call.id) }));

/** Passes are included in the totals, since the protocol has none. */
export function renderUsage(reported: TokenUsage): JsonObject {
  const usage = withPasses(reported);
  const { input, cacheRead, output, reasoning, audioInput, audioOutput } = usage;
  const written = cacheWrites(usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...(written > 0 && { cache_write_tokens: written }),
      ...(audioInput !== undefined && { audio_tokens: audioInput }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...(audioOutput !== undefined && { audio_tokens: audioOutput }),
    },
  };
}
