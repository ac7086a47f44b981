import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyInnerError,
  dataKind,
  invalidResponse,
  parseData,
  parseResponse,
  resultOf,
  type SseEvent,
  type StreamDecoder,
  truncatedStream,
  type UpstreamTarget,
} from '../contract/index.js';
import { DecodedParts } from './decoded-parts.js';
import { chatFlags } from './flags.js';
import { chatUsage } from './verbatim.js';
import { annotationsIn, callsIn, choiceOf, deltaOf, reasoningIn, stopReason, textIn } from './wire.js';

/** Decodes responses of many servers, tolerating what they omit, repeat or misname. */
export class ChatDecoder implements StreamDecoder {
  private readonly parts: DecodedParts;
  private readonly thinkTags: ThinkTags | undefined;
  /** Web search is possible; servers do not report uses but cite results. */
  private readonly maySearch: boolean;
  private hasCited = false;
  private hasRefused = false;
  private stage: 'new' | 'open' | 'stopped' | 'over' = 'new';

  constructor(content: CallContent, target: UpstreamTarget) {
    const flags = chatFlags(target.flags);
    this.parts = new DecodedParts(content, target.family);
    this.thinkTags = flags.thinkTagSplit ? new ThinkTags() : undefined;
    this.maySearch = flags.hostedWebSearch && content.hostedTools.some(({ type }) => type === 'web_search');
  }

  next(event: SseEvent): readonly CallEvent[] {
    if (this.stage === 'over') return [];
    switch (dataKind(event)) {
      case 'none':
        return [];
      case 'done':
        return this.end();
      case 'object': {
        const chunk = parseData(event);
        if (chunk === undefined) return [];
        if (event.name === 'error') throw classifyInnerError({ error: chunk['error'] ?? chunk });
        return this.chunk(chunk);
      }
      case 'other':
        // Truncated or invalid lines are skipped.
        if (event.name === 'error') throw classifyInnerError({ error: event.data });
        return [];
    }
  }

  /** A finish reason without `[DONE]` is a complete response. */
  end(): readonly CallEvent[] {
    if (this.stage === 'over') return [];
    if (this.stage !== 'stopped') throw truncatedStream();
    this.stage = 'over';
    return [{ type: 'call-end' }];
  }

  /** An unstreamed response is a single complete chunk. */
  whole(response: JsonObject): readonly CallEvent[] {
    const events = this.chunk(response);
    if (choiceOf(response) === undefined) throw invalidResponse('an empty response');
    return this.stage === 'open' ? [...events, ...this.finish('stop')] : events;
  }

  private chunk(chunk: JsonObject): CallEvent[] {
    // Some upstreams always include the member, as null or false.
    if (chunk['error']) throw classifyInnerError({ error: chunk['error'] });
    const events: CallEvent[] = this.stage === 'new' ? [{ type: 'call-start' }] : [];
    if (this.stage === 'new') this.stage = 'open';
    const choice = choiceOf(chunk);
    if (choice !== undefined && this.stage === 'open') events.push(...this.choice(choice));
    const usage = this.usage(chunk);
    if (usage !== undefined) events.push(usage);
    return events;
  }

  private choice(choice: JsonObject): CallEvent[] {
    const events = this.delta(deltaOf(choice));
    const finish = choice['finish_reason'];
    return typeof finish === 'string' && finish !== '' ? [...events, ...this.finish(finish)] : events;
  }

  private delta(delta: JsonObject): CallEvent[] {
    const { parts } = this;
    const refusal = textIn(delta['refusal']);
    this.hasRefused ||= refusal !== '';
    const events = [
      ...parts.text('reasoning', reasoningIn(delta)),
      ...this.content(textIn(delta['content'])),
      ...parts.text('refusal', refusal),
    ];
    for (const annotation of annotationsIn(delta)) {
      this.hasCited = true;
      parts.annotate(annotation);
    }
    for (const call of callsIn(delta)) events.push(...parts.call(call));
    return events;
  }

  private content(text: string): CallEvent[] {
    if (this.thinkTags === undefined) return this.parts.text('text', text);
    return this.thinkTags.next(text).flatMap((piece) => this.parts.text(piece.kind, piece.text));
  }

  private finish(finish: string): CallEvent[] {
    this.stage = 'stopped';
    const rest = this.thinkTags?.end();
    const events = rest === undefined ? [] : this.parts.text(rest.kind, rest.text);
    events.push(...this.parts.finish());
    const reason = stopReason(finish, { hasCalls: this.parts.hasCalls, hasRefused: this.hasRefused });
    return [...events, { type: 'call-stop', reason }];
  }

  private usage(chunk: JsonObject): CallEvent | undefined {
    const reported = isJsonObject(chunk['usage']) ? chunk['usage'] : undefined;
    const searched = this.maySearch && this.hasCited;
    const usage = chatUsage(reported, { serviceTier: chunk['service_tier'], searched });
    return usage && { type: 'usage-update', usage };
  }
}

/** @throws AppError when it is an error in disguise, or not a response */
export function decodeChatResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
  return resultOf(new ChatDecoder(content, target).whole(parseResponse(body)));
}

const OPENING = '<think>';
const CLOSING = '</think>';

interface TextPiece {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

/**
 * Extracts reasoning for servers that write `<think>…</think>` at the start. Tags may be split; elsewhere they are
 * text.
 */
class ThinkTags {
  private stage: 'before' | 'thinking' | 'answering' = 'before';
  /** Text that may become a tag. */
  private held = '';

  next(text: string): readonly TextPiece[] {
    if (this.stage === 'answering') return [{ kind: 'text', text }];
    this.held += text;
    return this.stage === 'before' ? this.before() : this.thinking();
  }

  end(): TextPiece {
    const text = this.held;
    this.held = '';
    return { kind: this.stage === 'thinking' ? 'reasoning' : 'text', text };
  }

  private before(): readonly TextPiece[] {
    const text = this.held.trimStart();
    if (OPENING.startsWith(text)) return [];
    if (!text.startsWith(OPENING)) return this.content(this.held);
    this.stage = 'thinking';
    this.held = text.slice(OPENING.length);
    return this.thinking();
  }

  private thinking(): readonly TextPiece[] {
    const end = this.held.indexOf(CLOSING);
    if (end !== -1) {
      const reasoning: TextPiece = { kind: 'reasoning', text: this.held.slice(0, end) };
      return [reasoning, ...this.content(this.held.slice(end + CLOSING.length))];
    }
    const safeEnd = this.held.length - partialTag(this.held);
    const reasoning: TextPiece = { kind: 'reasoning', text: this.held.slice(0, safeEnd) };
    this.held = this.held.slice(safeEnd);
    return [reasoning];
  }

  private content(text: string): readonly TextPiece[] {
    this.stage = 'answering';
    this.held = '';
    return [{ kind: 'text', text }];
  }
}

/** Length of a partial closing tag at the end. */
function partialTag(text: string): number {
  for (let length = Math.min(text.length, CLOSING.length - 1); length > 0; length -= 1) {
    if (text.endsWith(CLOSING.slice(0, length))) return length;
  }
  return 0;
}
