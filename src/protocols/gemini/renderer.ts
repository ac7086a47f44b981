import type { AppError, JsonObject } from '../../platform/shared/index.js';
import {
  type Annotation,
  type CallEvent,
  type CallResult,
  isObjectText,
  newResponseId,
  NO_TOKENS,
  type OpaqueReasoning,
  type PartStart,
  RawJson,
  type RenderContext,
  type ResponsePart,
  sseText,
  type StopReason,
  type StreamRenderer,
  type TokenUsage,
  type ToolCallPart,
  type TreeObject,
  withPasses,
  writeJson,
} from '../contract/index.js';
import { geminiErrorBody } from './errors.js';
import { isEventStream, wireSignature } from './wire.js';

/** Clients drop responses without parts from their history. */
const EMPTY_PART: TreeObject = { text: '' };

/**
 * Renders a stream of partial responses. Function calls are complete, like the vendor's, and carry the signature of the
 * reasoning before them; other signatures get a part of their own.
 */
export class GeminiRenderer implements StreamRenderer {
  readonly #framing: Framing;
  readonly #signatures: PendingSignature;
  #kind: PartStart['kind'] = 'text';
  #usage: TokenUsage | undefined;
  #finish = '';

  constructor(private readonly context: RenderContext) {
    this.#framing = new Framing(context.call.request.query);
    this.#signatures = new PendingSignature(context);
  }

  next(event: CallEvent): string {
    switch (event.type) {
      case 'call-start':
      case 'part-annotation':
        return '';
      case 'part-start':
        this.#kind = event.start.kind;
        return this.#kind === 'tool-call' ? '' : this.#parts(this.#signatures.released());
      case 'part-delta':
        return this.#delta(event.text);
      case 'part-seal':
        return this.#parts(this.#signatures.hold(event.opaque));
      case 'part-end':
        return this.#endPart(event.part);
      case 'usage-update':
        this.#usage = event.usage;
        return '';
      case 'call-stop':
        this.#finish = finishReason(event.reason, this.context);
        return this.#parts(this.#signatures.released());
      case 'call-end':
        return this.#end();
      default:
        return event satisfies never;
    }
  }

  fail(error: AppError): string {
    return this.#framing.last(geminiErrorText(error, this.context.call.id));
  }

  #delta(text: string): string {
    if (this.#kind === 'tool-call') return '';
    if (this.#kind !== 'reasoning') return this.#parts([{ text }]);
    return showsReasoning(this.context) ? this.#parts([thought(text)]) : '';
  }

  #endPart(part: ResponsePart): string {
    if (part.kind === 'tool-call') return this.#parts([this.#signatures.signed(callOf(part, this.context))]);
    const sources = part.kind === 'text' ? (part.annotations ?? []) : [];
    return sources.length === 0 ? '' : this.#send({ content: contentOf([]), ...groundingOf(sources) });
  }

  #parts(parts: readonly TreeObject[]): string {
    return parts.length === 0 ? '' : this.#send({ content: contentOf(parts) });
  }

  #send(candidate: TreeObject): string {
    return this.#framing.next(writeJson(responseOf(candidate, this.context)));
  }

  #end(): string {
    const candidate = { content: contentOf([]), finishReason: this.#finish };
    return this.#framing.last(writeJson(responseOf(candidate, this.context, this.#usage ?? NO_TOKENS)));
  }
}

/** Frames of a stream: server-sent events, or the elements of a JSON array. */
export class Framing {
  readonly #isEventStream: boolean;
  #count = 0;

  constructor(query: string) {
    this.#isEventStream = isEventStream(query);
  }

  /** Whether events of the vendor's stream are sent as they are. */
  get isVerbatim(): boolean {
    return this.#isEventStream;
  }

  next(json: string): string {
    if (this.#isEventStream) return sseText(undefined, json);
    this.#count += 1;
    return `${this.#count === 1 ? '[' : ',\n'}${json}`;
  }

  last(json: string): string {
    return this.#isEventStream ? sseText(undefined, json) : `${this.next(json)}]`;
  }

  /** For a stream that has begun. */
  continued(): this {
    this.#count += 1;
    return this;
  }

  /** The end of a stream whose last element was sent. */
  get end(): string {
    if (this.#isEventStream) return '';
    return this.#count === 0 ? '[]' : ']';
  }
}

/** Also an element of a stream: clients throw on `error`. */
export const geminiErrorText = (error: AppError, requestId: string): string =>
  JSON.stringify(geminiErrorBody(error, requestId) satisfies JsonObject);

export function renderGeminiResponse({ parts, stop, usage = NO_TOKENS }: CallResult, context: RenderContext): string {
  const signatures = new PendingSignature(context);
  const rendered = parts.flatMap((part) => partsOf(part, signatures, context));
  const sources = parts.flatMap((part) => (part.kind === 'text' ? (part.annotations ?? []) : []));
  const candidate = {
    content: contentOf([...rendered, ...signatures.released()]),
    finishReason: finishReason(stop, context),
    ...groundingOf(sources),
  };
  return writeJson(responseOf(candidate, context, usage));
}

function partsOf(part: ResponsePart, signatures: PendingSignature, context: RenderContext): readonly TreeObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [...signatures.released(), ...(part.text === '' ? [] : [{ text: part.text }])];
    case 'reasoning':
      return [
        ...signatures.released(),
        ...(showsReasoning(context) && part.text !== '' ? [thought(part.text)] : []),
        ...(part.opaque === undefined ? [] : signatures.hold(part.opaque)),
      ];
    case 'tool-call':
      return [signatures.signed(callOf(part, context))];
    case 'compaction':
      throw new TypeError('Gemini has no compaction.');
    default:
      return part satisfies never;
  }
}

/** Holds the signature of reasoning for a following call, on which clients keep it. */
class PendingSignature {
  #held: string | undefined;

  constructor(private readonly context: RenderContext) {}

  /** Parts to be sent before. */
  hold(opaque: OpaqueReasoning): readonly TreeObject[] {
    if (this.context.content.reasoning.show === 'none') return [];
    const before = this.released();
    this.#held = wireSignature(this.context.seal(opaque));
    return before;
  }

  signed(part: TreeObject): TreeObject {
    const thoughtSignature = this.#held;
    this.#held = undefined;
    return { ...part, thoughtSignature };
  }

  /** A part with the held signature alone. */
  released(): readonly TreeObject[] {
    return this.#held === undefined ? [] : [this.signed(thought(''))];
  }
}

const showsReasoning = ({ content }: RenderContext): boolean => content.reasoning.show === 'text';

const thought = (text: string): TreeObject => ({ text, thought: true });

/** Invalid arguments become an empty object. */
function callOf({ id, name, arguments: text }: ToolCallPart, { warnings }: RenderContext): TreeObject {
  const isValid = isObjectText(text);
  if (!isValid) warnings.warn('invalid_arguments', 'candidates');
  return { functionCall: { id, name, args: new RawJson(isValid ? text.replaceAll(LINE_END, ' ') : '{}') } };
}

/** Events have one line; in JSON, line ends are only between tokens. */
const LINE_END = /[\r\n]/g;

const contentOf = (parts: readonly TreeObject[]): TreeObject => ({
  role: 'model',
  parts: parts.length === 0 ? [EMPTY_PART] : parts,
});

const groundingOf = (sources: readonly Annotation[]): TreeObject =>
  sources.length === 0
    ? {}
    : { groundingMetadata: { groundingChunks: sources.map(({ url, title }) => ({ web: { uri: url, title } })) } };

const responseOf = (candidate: TreeObject, { call }: RenderContext, usage?: TokenUsage): TreeObject => ({
  candidates: [{ ...candidate, index: 0 }],
  ...(usage !== undefined && { usageMetadata: wireUsage(usage) }),
  modelVersion: call.head.model,
  responseId: newResponseId(call, ''),
});

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'STOP',
  stop_sequence: 'STOP',
  tool_calls: 'STOP',
  pause: 'STOP',
  compaction: 'STOP',
  max_tokens: 'MAX_TOKENS',
  context: 'MAX_TOKENS',
  refusal: 'SAFETY',
  content_filter: 'SAFETY',
};

function finishReason(stop: StopReason, { warnings }: RenderContext): string {
  if (stop === 'pause') warnings.warn('paused', 'finishReason');
  return FINISH_REASONS[stop];
}

/** Passes are included in the totals, since the protocol has none. */
function wireUsage(reported: TokenUsage): TreeObject {
  const { input, cacheRead, output, reasoning, imageInput, audioInput, audioOutput } = withPasses(reported);
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    promptTokensDetails: modalities(input, { IMAGE: imageInput, AUDIO: audioInput }),
    ...(audioOutput !== undefined && {
      candidatesTokensDetails: modalities(output - reasoning, { AUDIO: audioOutput }),
    }),
  };
}

/** The rest is text. */
function modalities(total: number, media: Readonly<Record<string, number | undefined>>): readonly TreeObject[] {
  const counts = Object.entries(media).flatMap(([modality, count]) =>
    count === undefined ? [] : [{ modality, count }],
  );
  const text = { modality: 'TEXT', count: counts.reduce((rest, { count }) => rest - count, total) };
  return [text, ...counts].map(({ modality, count }) => ({ modality, tokenCount: count }));
}
