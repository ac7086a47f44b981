import type { TokenUsage } from '../call.js';
import type { ResponsePart } from './content.js';
import type { CallEvent, CallResult, StopReason } from './events.js';

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

/** A complete response as events, for streaming clients. */
export function* eventsOf({ parts, stop, sequence, usage }: CallResult): Generator<CallEvent> {
  yield { type: 'call-start' };
  for (const part of parts) yield* eventsOfPart(part);
  yield { type: 'call-stop', reason: stop, ...(sequence !== undefined && { sequence }) };
  if (usage !== undefined) yield { type: 'usage-update', usage };
  yield { type: 'call-end' };
}

function* eventsOfPart(part: ResponsePart): Generator<CallEvent> {
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
