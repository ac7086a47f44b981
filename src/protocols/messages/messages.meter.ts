import {
  classifyInnerError,
  countIn,
  dataKind,
  eventTypeReader,
  HIDDEN,
  MemberFinder,
  objectIn,
  outputOf,
  parseData,
  passUnlessError,
  truncated,
  unreadableEvent,
  stateSignals,
  type Call,
  type CallHead,
  type CallSignal,
  type CreatedState,
  type MeterReading,
  type SseEvent,
  type StreamMeter,
} from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { stateOfBlock, stateOfContainer, stateOfMessage } from './messages.state.js';
import { MessagesUsage } from './messages.usage.js';

/** Members whose strings are the answer. */
export const TEXTS = new MemberFinder('text', 'thinking', 'name', 'partial_json');
/** Of a block, what it can begin with. */
const BLOCK_TEXTS = ['text', 'thinking', 'name'];

const typeOf = eventTypeReader('message_(?:start|delta|stop)|content_block_(?:start|delta)|error');

/** Looks at the events of one answer and changes none. */
export class MessagesMeter implements StreamMeter {
  readonly #head: CallHead;
  readonly #usage = new MessagesUsage();
  #begun = false;
  #over = false;
  /** The output has been reported; what the beginning says of it is a placeholder. */
  #isReported = false;

  constructor({ head }: Pick<Call, 'head'>) {
    this.#head = head;
  }

  get complete(): boolean {
    return this.#over;
  }

  get closed(): boolean {
    return this.#over;
  }

  end(): MeterReading {
    if (!this.complete) throw truncated();
    return HIDDEN;
  }

  next(event: SseEvent): MeterReading {
    const kind = dataKind(event);
    // The marker is another dialect's; some servers send it here as well.
    if (this.#over || kind === 'done') return HIDDEN;
    if (kind === 'other') throw unreadableEvent();
    switch (typeOf(event)) {
      case 'content_block_delta':
        return { signals: this.#delta(event.text), last: false };
      case 'content_block_start':
        return { signals: this.#block(event), last: false };
      case 'message_start':
        return { signals: this.#start(objectIn(read(event), 'message')), last: false };
      case 'message_delta':
        return { signals: this.#endOf(read(event)), last: false };
      case 'message_stop':
        this.#over = true;
        return { signals: [], last: true };
      case 'error':
        throw classifyInnerError(parseData(event));
      default:
        return passUnlessError(event);
    }
  }

  #delta(text: string): CallSignal[] {
    const written = TEXTS.stringsIn(text);
    const output = written === '' ? [] : [outputOf(written)];
    return [...this.#content(), ...output];
  }

  /** A text or a thought that begins is usually empty yet; any other block is content by itself. */
  #block(event: SseEvent): CallSignal[] {
    const block = objectIn(read(event), 'content_block');
    const written = BLOCK_TEXTS.map((name) => block[name]).find((text) => typeof text === 'string' && text !== '');
    const isText = block['type'] === 'text' || block['type'] === 'thinking';
    if (isText && written === undefined) return [];
    const output = typeof written === 'string' ? [outputOf(written)] : [];
    return [...this.#content(), ...output, ...(isText ? [] : this.#stateOf(() => stateOfBlock(block)))];
  }

  #start(message: JsonObject): CallSignal[] {
    return [...this.#usageOf(message), ...this.#stateOf(() => stateOfMessage(this.#head, message))];
  }

  #stateOf(created: () => readonly CreatedState[]): readonly CallSignal[] {
    return this.#head.demands?.createsState === true ? stateSignals(created()) : [];
  }

  #content(): CallSignal[] {
    if (this.#begun) return [];
    this.#begun = true;
    return [{ type: 'content' }];
  }

  #endOf(delta: JsonObject): CallSignal[] {
    this.#isReported ||= countIn(objectIn(delta, 'usage'), 'output_tokens') !== undefined;
    return [...this.#usageOf(delta), ...this.#stateOf(() => stateOfContainer(objectIn(delta, 'delta')))];
  }

  #usageOf({ usage: reported }: JsonObject): CallSignal[] {
    const usage = this.#usage.merge(isJsonObject(reported) ? reported : undefined);
    if (usage === undefined) return [];
    return [{ type: 'usage', usage, ...(!this.#isReported && { isProvisional: true }) }];
  }
}

function read(event: SseEvent): JsonObject {
  const data = parseData(event);
  if (data === undefined) throw unreadableEvent();
  return data;
}
