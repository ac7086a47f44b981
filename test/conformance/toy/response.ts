import type { AppError } from '../../../src/platform/shared/index.js';
import {
  type CallEvent,
  type CallResult,
  newResponseId,
  NO_TOKENS,
  type PartStart,
  type RenderContext,
  type ResponsePart,
  sseText,
  type StopReason,
  type StreamRenderer,
  type TokenUsage,
  type TreeObject,
  writeJson,
} from '../../../src/protocols/contract/index.js';
import { wireError } from './errors.js';
import { ENDS, wireUsage } from './wire.js';

/** Renders a whole response as JSON text. */
export function renderTelegram({ parts, stop, usage }: CallResult, context: RenderContext): string {
  return writeJson({ ...headOf(context), lines: parts.flatMap(lineOf), ...endingOf(stop, usage, context) });
}

/**
 * Renders a stream event by event. It may rely on the grammar of `CallEvent`: one part is open at a time. The `switch`
 * is exhaustive, so that a new kind of event does not compile until it is handled.
 */
export class TelegraphRenderer implements StreamRenderer {
  private kind: PartStart['kind'] = 'text';
  private isBegun = false;
  private stop: StopReason = 'end';
  private usage: TokenUsage | undefined;

  constructor(private readonly context: RenderContext) {}

  next(event: CallEvent): string {
    switch (event.type) {
      case 'call-start':
        return eventText(headOf(this.context));
      case 'part-start':
        return this.begin(event.start);
      case 'part-delta':
        return this.piece(event.text);
      case 'part-annotation':
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
        return eventText(endingOf(this.stop, this.usage, this.context));
      default:
        return event satisfies never;
    }
  }

  fail(error: AppError): string {
    return failureText(error, this.context.call.id);
  }

  private begin(start: PartStart): string {
    this.kind = start.kind;
    this.isBegun = false;
    return start.kind === 'tool-call' ? eventText({ call: start.id, tool: start.name }) : '';
  }

  private piece(text: string): string {
    if (this.kind === 'reasoning') return '';
    // A call without arguments has the text `{}`. Hold it back if the protocol sends nothing for such a call.
    if (this.kind === 'tool-call') return eventText({ arguments: text });
    const from = this.isBegun ? undefined : 'model';
    this.isBegun = true;
    return eventText({ from, text });
  }
}

/** Ends a failed stream. It has no `end`, so clients that ignore the error still see an incomplete response. */
export const failureText = (error: AppError, requestId: string): string => eventText(wireError(error, requestId));

/** Telegraph has no reasoning, and renders a refusal as text. */
function lineOf(part: ResponsePart): TreeObject[] {
  if (part.kind === 'reasoning') return [];
  if (part.kind === 'tool-call') return [{ call: part.id, tool: part.name, arguments: part.arguments }];
  return part.text === '' ? [] : [{ from: 'model', text: part.text }];
}

/** IDs are derived from the call: adapters have no randomness. For items there is `itemId`. */
const headOf = ({ call }: RenderContext): TreeObject => ({ id: newResponseId(call, 'tg_'), model: call.head.model });

function endingOf(stop: StopReason, usage: TokenUsage = NO_TOKENS, { warnings }: RenderContext): TreeObject {
  // `ENDS` maps this to a normal end. The other warning about a response is `invalid_arguments`.
  if (stop === 'pause') warnings.warn('paused', 'end');
  return { end: ENDS[stop], usage: wireUsage(usage) };
}

const eventText = (data: TreeObject): string => sseText(undefined, writeJson(data));
