import {
  newResponseId,
  NO_TOKENS,
  sseText,
  writeJson,
  type CallEvent,
  type OpaqueReasoning,
  type PartStart,
  type RenderContext,
  type StreamRenderer,
  type TokenUsage,
  type TreeObject,
} from '../contract/index.js';
import type { AppError } from '../../platform/shared/index.js';
import { renderMessagesErrorEvent } from './messages.errors.js';
import { NO_ENDING, wireEnding, wireMessage, wireUsage } from './messages.wire.js';

/** Arguments of nothing: this dialect says so by no delta at all. */
const NO_ARGUMENTS = '{}';

/** What the blocks of a part's kind begin with, and what its deltas are called. */
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

/** Writes one answer down as blocks, one at a time, numbered as they begin. */
export class MessagesRenderer implements StreamRenderer {
  #kind: PartStart['kind'] = 'text';
  /** What stands before the text of a delta; undefined while no block is open. */
  #before: string | undefined;
  /** Arguments that may still turn out to be nothing; undefined once they have not. */
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
        return this.#endPart();
      // What stands in a citation of this dialect is signed by its vendor, who gets it back and would refuse another's.
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
   * LangChain reads the prompt's tokens only here, so they are estimated; `message_delta` has the exact figure. Output is
   * 0: there are clients that add it to the output of the end.
   */
  #message(): string {
    const { call } = this.context;
    const usage = wireUsage({ ...NO_TOKENS, input: this.context.promptTokens() });
    const message = wireMessage(newResponseId(call, 'msg_'), call.head.model, [], NO_ENDING, usage);
    return eventText({ type: 'message_start', message });
  }

  /** Only a call begins its block at once: a text, or a thought, that turns out empty has none. */
  #start(start: PartStart): string {
    this.#kind = start.kind;
    if (start.kind !== 'tool-call') return '';
    this.#held = '';
    const block = { type: 'tool_use', id: start.id, name: start.name, input: {} };
    return this.#open({ block, delta: 'input_json_delta', member: 'partial_json' });
  }

  #delta(text: string): string {
    if (this.#kind === 'tool-call') return this.#arguments(text);
    if (this.#kind !== 'reasoning') return this.#open(TEXT) + this.#told(text);
    return this.context.content.reasoning.show === 'text' ? this.#open(THINKING) + this.#told(text) : '';
  }

  #arguments(text: string): string {
    if (this.#held === undefined) return this.#told(text);
    this.#held += text;
    if (NO_ARGUMENTS.startsWith(this.#held)) return '';
    return this.#release();
  }

  #release(): string {
    const held = this.#held ?? '';
    this.#held = undefined;
    return held === '' ? '' : this.#told(held);
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

  /** Begins a block of this form, unless it has begun. */
  #open({ block, delta, member }: BlockForm): string {
    if (this.#before !== undefined) return '';
    const index = this.#blocks;
    this.#before = `{"type":"content_block_delta","index":${index},"delta":{"type":"${delta}","${member}":`;
    return eventText({ type: 'content_block_start', index, content_block: block });
  }

  #told(text: string): string {
    return sseText('content_block_delta', `${this.#before ?? ''}${JSON.stringify(text)}}}`);
  }
}

const eventText = (data: TreeObject & { readonly type: string }): string => sseText(data.type, writeJson(data));
