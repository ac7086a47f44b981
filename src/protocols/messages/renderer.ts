import type { AppError } from '../../platform/shared/index.js';
import {
  cacheWrites,
  type CallEvent,
  type CallResult,
  type CompactionPart,
  isObjectText,
  newResponseId,
  NO_TOKENS,
  type OpaqueReasoning,
  type PartStart,
  RawJson,
  type ReasoningPart,
  type RenderContext,
  type ResponsePart,
  sseText,
  type StopReason,
  type StreamRenderer,
  type TokenUsage,
  type TreeObject,
  type UsagePass,
  writeJson,
} from '../contract/index.js';
import { renderMessagesErrorEvent } from './errors.js';

/** Empty arguments are expressed by no delta. */
const NO_ARGUMENTS = '{}';

interface BlockForm {
  readonly block: TreeObject;
  readonly delta: string;
  readonly member: string;
}

const TEXT: BlockForm = { block: { type: 'text', text: '' }, delta: 'text_delta', member: 'text' };
const THINKING: BlockForm = {
  block: { type: 'thinking', thinking: '', signature: '' },
  delta: 'thinking_delta',
  member: 'thinking',
};

/** Renders numbered blocks, one at a time. */
export class MessagesRenderer implements StreamRenderer {
  #kind: PartStart['kind'] = 'text';
  /** JSON before the text of a delta; undefined if no block is open. */
  #before: string | undefined;
  /** Arguments that may still turn out to be empty. */
  #held: string | undefined;
  #blocks = 0;
  #usage: TokenUsage | undefined;
  #ending: TreeObject = NO_ENDING;

  constructor(private readonly context: RenderContext) {}

  next(event: CallEvent): string {
    switch (event.type) {
      case 'call-start':
        return this.#message();
      case 'part-start':
        return this.#start(event.start);
      case 'part-delta':
        return this.#delta(event.text);
      case 'part-seal':
        return this.#seal(event.opaque);
      case 'part-end':
        return event.part.kind === 'compaction' ? this.#compaction(event.part) : this.#endPart();
      // Citations are signed by the vendor, who would reject others.
      case 'part-annotation':
        return '';
      case 'usage-update':
        this.#usage = event.usage;
        return '';
      case 'call-stop':
        this.#ending = wireEnding(event.reason, event.sequence);
        return '';
      case 'call-end':
        return this.#end();
      default:
        return event satisfies never;
    }
  }

  fail(error: AppError): string {
    return renderMessagesErrorEvent(error, this.context.call.id);
  }

  /**
   * LangChain reads prompt tokens only here, so they are estimated; `message_delta` has the exact count. Output is 0:
   * some clients add it to the final count.
   */
  #message(): string {
    const { call } = this.context;
    const usage = wireUsage({ ...NO_TOKENS, input: this.context.promptTokens() });
    const message = wireMessage(newResponseId(call, 'msg_'), call.head.model, [], NO_ENDING, usage);
    return eventText({ type: 'message_start', message });
  }

  /** Only tool calls start immediately: empty texts and reasoning get no block. */
  #start(start: PartStart): string {
    this.#kind = start.kind;
    if (start.kind !== 'tool-call') return '';
    this.#held = '';
    const block = { type: 'tool_use', id: start.id, name: start.name, input: {} };
    return this.#open({ block, delta: 'input_json_delta', member: 'partial_json' });
  }

  #delta(text: string): string {
    if (this.#kind === 'tool-call') return this.#arguments(text);
    if (this.#kind === 'compaction') return '';
    if (this.#kind !== 'reasoning') return this.#open(TEXT) + this.#textDelta(text);
    return this.context.content.reasoning.show === 'text' ? this.#open(THINKING) + this.#textDelta(text) : '';
  }

  #arguments(text: string): string {
    if (this.#held === undefined) return this.#textDelta(text);
    this.#held += text;
    if (NO_ARGUMENTS.startsWith(this.#held)) return '';
    return this.#release();
  }

  #release(): string {
    const held = this.#held ?? '';
    this.#held = undefined;
    return held === '' ? '' : this.#textDelta(held);
  }

  #seal(opaque: OpaqueReasoning): string {
    if (this.context.content.reasoning.show === 'none') return '';
    const seal = this.context.seal(opaque);
    if (opaque.kind === 'redacted' && this.#before === undefined) {
      return this.#open({ ...THINKING, block: { type: 'redacted_thinking', data: seal } });
    }
    const begun = this.#open(THINKING);
    const delta = { type: 'signature_delta', signature: seal };
    return begun + eventText({ type: 'content_block_delta', index: this.#blocks, delta });
  }

  /** A single delta has the whole summary. */
  #compaction({ text }: CompactionPart): string {
    const index = this.#blocks;
    this.#blocks += 1;
    const block = compactionOf(text, this.context);
    return (
      eventText({
        type: 'content_block_start',
        index,
        content_block: { ...block, content: null, encrypted_content: null },
      }) +
      eventText({ type: 'content_block_delta', index, delta: { ...block, type: 'compaction_delta' } }) +
      eventText({ type: 'content_block_stop', index })
    );
  }

  #endPart(): string {
    const rest = this.#held === NO_ARGUMENTS ? '' : this.#release();
    this.#held = undefined;
    if (this.#before === undefined) return '';
    this.#before = undefined;
    const index = this.#blocks;
    this.#blocks += 1;
    return rest + eventText({ type: 'content_block_stop', index });
  }

  #end(): string {
    const delta = this.#ending;
    return (
      eventText({ type: 'message_delta', delta, usage: wireUsage(this.#usage) }) + eventText({ type: 'message_stop' })
    );
  }

  /** Starts a block unless it is open. */
  #open({ block, delta, member }: BlockForm): string {
    if (this.#before !== undefined) return '';
    const index = this.#blocks;
    this.#before = `{"type":"content_block_delta","index":${index},"delta":{"type":"${delta}","${member}":`;
    return eventText({ type: 'content_block_start', index, content_block: block });
  }

  #textDelta(text: string): string {
    return sseText('content_block_delta', `${this.#before ?? ''}${JSON.stringify(text)}}}`);
  }
}

const eventText = (data: TreeObject & { readonly type: string }): string => sseText(data.type, writeJson(data));

export function renderMessagesResponse({ parts, stop, sequence, usage }: CallResult, context: RenderContext): string {
  const content = parts.flatMap((part) => blockOf(part, context));
  const ending = wireEnding(stop, sequence);
  const { call } = context;
  return writeJson(wireMessage(newResponseId(call, 'msg_'), call.head.model, content, ending, wireUsage(usage)));
}

function blockOf(part: ResponsePart, context: RenderContext): readonly TreeObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, citations: null }];
    case 'reasoning':
      return reasoningOf(part, context);
    case 'compaction':
      return [compactionOf(part.text, context)];
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: inputOf(part.arguments, context) }];
    default:
      return part satisfies never;
  }
}

/** The seal marks it as readable text for other upstreams, which would reject it. */
const compactionOf = (text: string, context: RenderContext): TreeObject => ({
  type: 'compaction',
  content: text,
  encrypted_content: context.seal({ kind: 'summary', family: '', data: '', text: '' }),
});

function reasoningOf({ text, opaque }: ReasoningPart, context: RenderContext): readonly TreeObject[] {
  const { show } = context.content.reasoning;
  if (show === 'none') return [];
  const signature = opaque === undefined ? '' : context.seal(opaque);
  if (opaque?.kind === 'redacted') return [{ type: 'redacted_thinking', data: signature }];
  const thinking = show === 'text' ? text : '';
  return thinking === '' && signature === '' ? [] : [{ type: 'thinking', thinking, signature }];
}

/** Invalid arguments become an empty object. */
function inputOf(text: string, { warnings }: RenderContext): RawJson {
  if (isObjectText(text)) return new RawJson(text);
  warnings.warn('invalid_arguments', 'content');
  return new RawJson('{}');
}

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  tool_calls: 'tool_use',
  max_tokens: 'max_tokens',
  context: 'model_context_window_exceeded',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
  compaction: 'compaction',
};

/** The refusal's text is shown as a text block, once. */
const REFUSED = { type: 'refusal', category: null, explanation: null };

function wireEnding(reason: StopReason, sequence: string | undefined): TreeObject {
  const stop_reason = STOP_REASONS[reason];
  return {
    stop_reason,
    stop_sequence: sequence ?? null,
    stop_details: stop_reason === 'refusal' ? REFUSED : null,
  };
}

/**
 * Cached tokens are not part of `input_tokens`, and passes are listed beside the totals. Writes for 12 hours count as
 * the longest lifetime available.
 */
export function wireUsage(usage: TokenUsage = NO_TOKENS): TreeObject {
  const { reasoning, toolUses, speed, geo, servedBy, passes } = usage;
  const searches = toolUses?.['web_search'];
  const own = servedBy === undefined ? { type: 'message', model: null } : { type: 'fallback_message', model: servedBy };
  return {
    ...wireTokens(usage),
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(searches !== undefined && { server_tool_use: { web_search_requests: searches } }),
    ...(speed !== undefined && { speed }),
    ...(geo !== undefined && { inference_geo: geo }),
    ...(passes !== undefined && { iterations: [...passes.map(wirePass), { ...own, ...wireTokens(usage) }] }),
  };
}

function wireTokens(usage: TokenUsage): TreeObject {
  const { input, cacheRead, cacheWrite, output } = usage;
  const written = cacheWrites(usage);
  return {
    input_tokens: Math.max(0, input - cacheRead - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: written - cacheWrite },
    output_tokens: output,
  };
}

/** A pass of the call's own model is a compaction, others are advisors. */
const wirePass = ({ model, usage }: UsagePass): TreeObject =>
  model === undefined
    ? { type: 'compaction', ...wireTokens(usage) }
    : { type: 'advisor_message', model, ...wireTokens(usage) };

/** Initially empty when streamed. */
const wireMessage = (
  id: string,
  model: string,
  content: readonly TreeObject[],
  ending: TreeObject,
  usage: TreeObject,
): TreeObject => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content,
  ...ending,
  container: null,
  usage,
});

const NO_ENDING: TreeObject = { stop_reason: null, stop_sequence: null, stop_details: null };
