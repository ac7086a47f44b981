import { AppError } from '../../../platform/shared/index.js';
import { NO_TOKENS, type TokenUsage } from '../call.js';
import type { StreamRenderer } from '../protocol-adapter.js';
import { outputOf, type SseEvent } from '../sse.js';
import type { StreamDecoder } from '../upstream-adapter.js';
import type { CallContent, CompactionPart, Part, Turn } from './content.js';
import { type CallEvent, type CallResult, eventsOf, eventsOfPart, resultOf, type StopReason } from './events.js';

// Compaction by a summary: the model summarizes the conversation, and the summary replaces it. For upstreams without
// compaction of their own.

/** Input tokens from which a conversation is compacted if the client names no threshold. */
const DEFAULT_THRESHOLD_TOKENS = 150_000;
/** For each image or file: their real size is unknown here. */
const MEDIA_TOKENS = 1500;

const PROMPT = `Summarize this conversation so that another assistant, who sees nothing but your summary, can continue the work. Do not call tools, and do not answer the user.

Include:
- what the user wants, with constraints and preferences, quoting exact wording where it matters
- what was done and decided so far, and why
- names that are needed to go on: files, functions, commands, identifiers, URLs, values
- results of tools that still matter, including errors
- the current state, open questions and the next step

Write only the summary.`;

const INTRODUCTION = 'The conversation so far was compacted. This is its summary; continue from here.';

/** The summary as a message of the user, in every protocol. */
export const summaryText = (summary: string): string => `${INTRODUCTION}\n\n${summary}`;

/** A finished summary with the usage of the pass that wrote it. */
export interface FinishedCompaction {
  /** Empty if the model wrote none: the conversation stays as it is. */
  readonly summary: string;
  readonly usage: TokenUsage;
}

/** Whether the conversation must be compacted before the request is served. */
export function compactsFirst(content: CallContent): boolean {
  const { compaction } = content;
  return compaction?.mode === 'ahead' && tokensOf(content) >= (compaction.threshold ?? DEFAULT_THRESHOLD_TOKENS);
}

/** Whether the response is a compaction and nothing else. */
export function onlyCompacts(content: CallContent): boolean {
  const { compaction } = content;
  return compaction?.mode === 'only' || (compaction?.pauses === true && compactsFirst(content));
}

/** The request for a summary of the conversation. Tools stay, since earlier turns use them. */
export function summarizing(content: CallContent): CallContent {
  const { compaction, turns } = content;
  const prompt: Part = { kind: 'text', text: compaction?.instructions ?? PROMPT };
  const last = turns.at(-1);
  const requested: readonly Turn[] =
    last?.role === 'user'
      ? [...turns.slice(0, -1), { role: 'user', parts: [...last.parts, prompt] }]
      : [...turns, { role: 'user', parts: [prompt] }];
  return {
    ...content,
    turns: requested,
    hostedTools: [],
    toolChoice: { mode: 'none' },
    // The client's limit is for the reply.
    outputLimit: compaction?.mode === 'only' ? content.outputLimit : undefined,
    stop: [],
    format: { kind: 'text' },
    verbosity: undefined,
    reasoning: { ...content.reasoning, show: 'none' },
  };
}

/** The request with its conversation replaced by the summary and the last message, if the user wrote it. */
export function compacted(content: CallContent, { summary }: FinishedCompaction): CallContent {
  if (summary === '') return content;
  const last = content.turns.at(-1);
  const isMessage = last?.role === 'user' && last.parts.every(({ kind }) => kind !== 'tool-result');
  const parts: readonly Part[] = [{ kind: 'text', text: summaryText(summary) }, ...(isMessage ? last.parts : [])];
  return { ...content, turns: [{ role: 'user', parts }] };
}

/** Estimated tokens of the prompt. */
export function tokensOf({ lead, turns, tools }: Pick<CallContent, 'lead' | 'turns' | 'tools'>): number {
  let tokens = 0;
  for (const part of [...lead, ...turns.flatMap(({ parts }) => parts)]) tokens += tokensOfPart(part);
  for (const { name, description = '', schema } of tools)
    tokens += outputOf(name + description + (schema?.text ?? '')).units;
  return tokens;
}

function tokensOfPart(part: Part): number {
  switch (part.kind) {
    case 'tool-call':
      return outputOf(part.name + part.arguments).units;
    case 'tool-result':
      return part.parts.reduce((sum, inner) => sum + tokensOfPart(inner), 0);
    case 'image':
    case 'audio':
      return MEDIA_TOKENS;
    case 'file':
      return part.source.from === 'text' ? outputOf(part.source.text).units : MEDIA_TOKENS;
    default:
      return outputOf(part.text).units;
  }
}

/** Turns the text of a response into one compaction, and drops everything else. */
export class CompactingDecoder implements StreamDecoder {
  private text = '';
  private isText = false;
  /** Text parts become paragraphs. */
  private separator = '';

  constructor(private readonly decoder: StreamDecoder) {}

  next(event: SseEvent): readonly CallEvent[] {
    return this.decoder.next(event).flatMap((one) => this.read(one));
  }

  end(): readonly CallEvent[] {
    return this.decoder.end().flatMap((one) => this.read(one));
  }

  private read(event: CallEvent): readonly CallEvent[] {
    switch (event.type) {
      case 'part-start':
        this.isText = event.start.kind === 'text';
        this.separator = this.text === '' ? '' : '\n\n';
        return [];
      case 'part-delta':
        return this.isText ? this.append(event.text) : [];
      case 'part-annotation':
      case 'part-seal':
      case 'part-end':
        return [];
      case 'call-stop':
        return [
          ...this.close(),
          { type: 'call-stop', reason: CUT_SHORT.has(event.reason) ? event.reason : 'compaction' },
        ];
      default:
        return [event];
    }
  }

  private append(text: string): readonly CallEvent[] {
    const start: readonly CallEvent[] = this.text === '' ? [{ type: 'part-start', start: { kind: 'compaction' } }] : [];
    const added = this.separator + text;
    this.separator = '';
    this.text += added;
    return [...start, { type: 'part-delta', text: added }];
  }

  /** @throws AppError when there is no summary */
  private close(): readonly CallEvent[] {
    if (this.text.trim() === '')
      throw new AppError('upstream_error', 'The upstream returned no summary of the conversation.', { failover: true });
    return [{ type: 'part-end', part: { kind: 'compaction', text: this.text } }];
  }
}

/** The summary is incomplete. */
const CUT_SHORT: ReadonlySet<StopReason> = new Set<StopReason>(['max_tokens', 'context', 'content_filter']);

/** The same for a complete response. @throws AppError when there is no summary */
export function compactionIn(result: CallResult): CallResult {
  const decoder = new CompactingDecoder({ next: () => [], end: () => [...eventsOf(result)] });
  return { ...resultOf(decoder.end()), usage: result.usage };
}

/** The text of a summarizing response; empty if it has none. */
export const summaryIn = ({ parts }: CallResult): string =>
  parts
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n\n')
    .trim();

const SEAL = /^rly1\.([\w-]+)\.[\w-]+$/;

/**
 * The summary in a sealed compaction, for upstreams that get the client's own bytes. Its seal is not checked: it becomes
 * a message of the user, who may write anything.
 */
export function sealedSummary(sealed: unknown): CompactionPart | undefined {
  const [, content] = typeof sealed === 'string' ? (SEAL.exec(sealed) ?? []) : [];
  if (content === undefined) return undefined;
  try {
    const { k: kind, t: text } = JSON.parse(Buffer.from(content, 'base64url').toString('utf8')) as Record<
      string,
      unknown
    >;
    return kind === 'summary' && typeof text === 'string' ? { kind: 'compaction', text } : undefined;
  } catch {
    return undefined;
  }
}

/** The usage of a response after a compaction: the pass that wrote the summary is listed beside its totals. */
const withPass = (usage: TokenUsage, { usage: pass }: FinishedCompaction): TokenUsage => ({
  ...usage,
  passes: [{ model: undefined, usage: pass }, ...(usage.passes ?? [])],
});

/** The usage of that pass before anything else is known. */
export const passUsage = (finished: FinishedCompaction): TokenUsage => withPass(NO_TOKENS, finished);

const compactionParts = ({ summary }: FinishedCompaction): readonly CompactionPart[] =>
  summary === '' ? [] : [{ kind: 'compaction', text: summary }];

/** Adds the pass to reported usage. */
export class CompactedDecoder implements StreamDecoder {
  constructor(
    private readonly decoder: StreamDecoder & { readonly stopped?: boolean },
    private readonly finished: FinishedCompaction,
  ) {}

  get stopped(): boolean {
    return this.decoder.stopped ?? false;
  }

  next(event: SseEvent): readonly CallEvent[] {
    return this.decoder.next(event).map((one) => this.read(one));
  }

  end(): readonly CallEvent[] {
    return this.decoder.end().map((one) => this.read(one));
  }

  private read(event: CallEvent): CallEvent {
    return event.type === 'usage-update' ? { ...event, usage: withPass(event.usage, this.finished) } : event;
  }
}

/** Renders the compaction before the reply. It was metered when it was written. */
export class CompactedRenderer implements StreamRenderer {
  constructor(
    private readonly renderer: StreamRenderer,
    private readonly finished: FinishedCompaction,
  ) {}

  next(event: CallEvent): string {
    const text = this.renderer.next(event);
    if (event.type !== 'call-start') return text;
    const parts = compactionParts(this.finished).flatMap((part) => [...eventsOfPart(part)]);
    return parts.reduce((rendered, part) => rendered + this.renderer.next(part), text);
  }

  fail(error: AppError): string {
    return this.renderer.fail(error);
  }
}

/** The same for a complete response. */
export const withCompaction = (result: CallResult, finished: FinishedCompaction): CallResult => ({
  ...result,
  parts: [...compactionParts(finished), ...result.parts],
});

/** Adds the pass to reported usage; unreported usage stays unknown. */
export const withCompactionUsage = (result: CallResult, finished: FinishedCompaction): CallResult => ({
  ...result,
  usage: result.usage && withPass(result.usage, finished),
});
