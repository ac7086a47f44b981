import type { TokenUsage } from '../call.js';
import type { Annotation, OpaqueReasoning, ResponsePart } from './content.js';

/** `context`: the context window is full. `compaction`: the response is a summary. */
export type StopReason =
  | 'end'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_calls'
  | 'refusal'
  | 'content_filter'
  | 'pause'
  | 'context'
  | 'compaction';

/** Properties of a part known at its start. */
export type PartStart =
  | { readonly kind: 'text' | 'refusal' | 'reasoning' | 'compaction' }
  | {
      readonly kind: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly namespace?: string | undefined;
      readonly isFreeform?: boolean | undefined;
    };

/**
 * An event of a response. The grammar, checked by `EventGrammar`:
 *
 *     response := call-start item* call-stop usage-update* call-end
 *     item     := usage-update | part-start part-delta* part-annotation* part-seal? part-end
 *
 * One part is open at a time. Its deltas add up to its text; for tool calls, to the arguments. Failures are not events:
 * the decoder throws.
 */
export type CallEvent =
  | { readonly type: 'call-start' }
  | { readonly type: 'part-start'; readonly start: PartStart }
  | { readonly type: 'part-delta'; readonly text: string }
  | { readonly type: 'part-annotation'; readonly annotation: Annotation }
  /** Reasoning only. */
  | { readonly type: 'part-seal'; readonly opaque: OpaqueReasoning }
  | { readonly type: 'part-end'; readonly part: ResponsePart }
  /** Cumulative usage; replaces earlier updates. Provisional: without output. */
  | { readonly type: 'usage-update'; readonly usage: TokenUsage; readonly isProvisional?: boolean }
  | {
      readonly type: 'call-stop';
      readonly reason: StopReason;
      /** The stop sequence that ended it. */
      readonly sequence?: string | undefined;
    }
  | { readonly type: 'call-end' };

export interface CallResult {
  readonly parts: readonly ResponsePart[];
  readonly stop: StopReason;
  readonly sequence?: string | undefined;
  /** Undefined if not reported. */
  readonly usage: TokenUsage | undefined;
}

/** Checks events against the grammar of `CallEvent`. For tests only. */
export class EventGrammar {
  private stage: 'new' | 'open' | 'stopped' | 'over' = 'new';
  private part: { readonly start: PartStart; text: string; isSealed: boolean } | undefined;
  private readonly ids = new Set<string>();

  /** @throws Error naming the violated rule */
  next(event: CallEvent): void {
    this.require(this.stage !== 'over', event, 'comes after the end');
    this.require((this.stage === 'new') === (event.type === 'call-start'), event, 'is not a valid start');
    switch (event.type) {
      case 'call-start':
        this.stage = 'open';
        return;
      case 'part-start':
        this.require(this.stage === 'open', event, 'comes after the stop');
        this.require(this.part === undefined, event, 'starts while another part is open');
        this.begin(event.start);
        return;
      case 'part-delta':
        this.require(event.text !== '', event, 'is empty');
        this.open(event).text += event.text;
        return;
      case 'part-annotation':
        this.require(this.open(event).start.kind === 'text', event, 'is not in a text');
        return;
      case 'part-seal':
        this.require(this.open(event).start.kind === 'reasoning', event, 'is not in a reasoning part');
        this.require(!this.open(event).isSealed, event, 'is a duplicate within its part');
        this.open(event).isSealed = true;
        return;
      case 'part-end':
        this.finish(event.part, event);
        return;
      case 'usage-update':
        return;
      case 'call-stop':
        this.require(this.stage === 'open', event, 'is the second');
        this.require(this.part === undefined, event, 'is inside a part');
        this.stage = 'stopped';
        return;
      case 'call-end':
        this.require(this.stage === 'stopped', event, 'has no stop');
        this.stage = 'over';
        return;
      default:
        event satisfies never;
    }
  }

  /** @throws Error when the response is incomplete */
  end(): void {
    if (this.stage !== 'over') throw new Error('The events end before the call.');
  }

  private begin(start: PartStart): void {
    if (start.kind === 'tool-call') {
      if (start.id === '' || start.name === '') throw new Error('A tool call has no id or no name.');
      if (this.ids.has(start.id)) throw new Error(`Two tool calls have the id ${start.id}.`);
      this.ids.add(start.id);
    }
    this.part = { start, text: '', isSealed: false };
  }

  private finish(part: ResponsePart, event: CallEvent): void {
    const { start, text, isSealed } = this.open(event);
    this.require(part.kind === start.kind, event, `ends a part of the kind ${start.kind}`);
    const whole = part.kind === 'tool-call' ? part.arguments : part.text;
    this.require(whole === text, event, `differs from its deltas: ${JSON.stringify(text)}`);
    if (part.kind === 'reasoning') this.require((part.opaque !== undefined) === isSealed, event, 'has no seal');
    if (part.kind === 'tool-call') {
      const same = start.kind === 'tool-call' && part.id === start.id && part.name === start.name;
      this.require(same, event, 'has a different id or name than its start');
    }
    this.part = undefined;
  }

  private open(event: CallEvent): NonNullable<typeof this.part> {
    if (this.part === undefined) throw new Error(`${JSON.stringify(event)} is outside a part.`);
    return this.part;
  }

  private require(holds: boolean, event: CallEvent, problem: string): void {
    if (!holds) throw new Error(`${JSON.stringify(event)} ${problem}.`);
  }
}

/** Collects the events of a response into an unstreamed one. */
export class ResultCollector {
  private readonly parts: ResponsePart[] = [];
  private stop: StopReason = 'end';
  private sequence: string | undefined;
  private usage: TokenUsage | undefined;

  next(event: CallEvent): void {
    switch (event.type) {
      case 'part-end':
        this.parts.push(event.part);
        return;
      case 'usage-update':
        this.usage = event.usage;
        return;
      case 'call-stop':
        this.stop = event.reason;
        this.sequence = event.sequence;
        return;
      case 'call-start':
      case 'part-start':
      case 'part-delta':
      case 'part-annotation':
      case 'part-seal':
      case 'call-end':
        return;
      default:
        event satisfies never;
    }
  }

  get result(): CallResult {
    return { parts: this.parts, stop: this.stop, sequence: this.sequence, usage: this.usage };
  }
}

export function resultOf(events: Iterable<CallEvent>): CallResult {
  const collector = new ResultCollector();
  for (const event of events) collector.next(event);
  return collector.result;
}

/** A complete response as events, for streaming clients. */
export function* eventsOf({ parts, stop, sequence, usage }: CallResult): Generator<CallEvent> {
  yield { type: 'call-start' };
  for (const part of parts) yield* eventsOfPart(part);
  yield { type: 'call-stop', reason: stop, ...(sequence !== undefined && { sequence }) };
  if (usage !== undefined) yield { type: 'usage-update', usage };
  yield { type: 'call-end' };
}

export function* eventsOfPart(part: ResponsePart): Generator<CallEvent> {
  const { kind } = part;
  if (kind === 'tool-call') {
    const { arguments: _, cache: __, ...start } = part;
    yield { type: 'part-start', start };
  } else yield { type: 'part-start', start: { kind } };
  const text = kind === 'tool-call' ? part.arguments : part.text;
  if (text !== '') yield { type: 'part-delta', text };
  if (kind === 'text') for (const annotation of part.annotations ?? []) yield { type: 'part-annotation', annotation };
  if (kind === 'reasoning' && part.opaque !== undefined) yield { type: 'part-seal', opaque: part.opaque };
  yield { type: 'part-end', part };
}
