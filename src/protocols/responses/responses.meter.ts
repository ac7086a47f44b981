import {
  classifyInnerError,
  dataKind,
  eventTypeReader,
  HIDDEN,
  jsonInterests,
  MemberFinder,
  objectIn,
  outputOf,
  parseData,
  PASSED,
  passUnlessError,
  readResponseFields,
  stateSignals,
  truncated,
  unreadableEvent,
  type Call,
  type CallHead,
  type CallSignal,
  type CreatedState,
  type MeterReading,
  type SseEvent,
  type StreamMeter,
} from '../contract/index.js';
import type { JsonObject } from '../../platform/shared/index.js';
import { stateOfItem, stateOfResponse } from './responses.state.js';
import { toolUsesIn, type ToolUses, withItem } from './responses.tools.js';
import { usageMembers, usageOf } from './responses.usage.js';

const DELTA = new MemberFinder('delta');
/** Items and parts inside an event have types of another form. */
const typeOf = eventTypeReader('response\\.[a-z_.]+|error');
const RESPONSE = 'response.';
/** What a terminal event must be asked; the whole answer lies in it and is not decoded unless the upstream ran tools. */
const TERMINAL = jsonInterests(...usageMembers(RESPONSE), 'error');
/** Items that are empty when they are added; any other is content by itself. */
const EMPTY_ITEMS: ReadonlySet<unknown> = new Set(['message', 'reasoning']);

/** Looks at the events of one answer and changes none. */
export class ResponsesMeter implements StreamMeter {
  readonly #head: CallHead;
  #begun = false;
  /** The terminal event has come. */
  #over = false;
  /** And the marker behind it. */
  #marked = false;
  /** Counted on the way, for servers whose terminal event has no output. */
  #toolUses: ToolUses | undefined;

  constructor({ head }: Pick<Call, 'head'>) {
    this.#head = head;
  }

  get complete(): boolean {
    return this.#over;
  }

  /** Behind the terminal event a marker is still to come. */
  get closed(): boolean {
    return this.#marked;
  }

  end(): MeterReading {
    if (!this.complete) throw truncated();
    return HIDDEN;
  }

  next(event: SseEvent): MeterReading {
    const kind = dataKind(event);
    if (this.#marked) return HIDDEN;
    if (kind === 'done') return this.#marker();
    // What stands between the terminal event and the marker is new, and the client's to judge.
    if (this.#over) return PASSED;
    if (kind === 'other') throw unreadableEvent();
    const type = typeOf(event) ?? '';
    if (type.endsWith('.delta')) return { signals: this.#delta(event.text), last: false };
    switch (type) {
      case 'response.output_item.added':
        return { signals: this.#item(event), last: false };
      case 'response.output_item.done':
        this.#toolUses = withItem(this.#toolUses, event, () => parseData(event)?.['item']);
        return { signals: [...this.#content(), ...this.#stateOf(event, 'item', stateOfItem)], last: false };
      case 'response.completed':
      case 'response.incomplete':
        this.#over = true;
        return { signals: [...this.#usage(event), ...this.#stateOf(event, 'response', stateOfResponse)], last: true };
      case 'response.failed':
        throw classifyInnerError({ error: objectIn(parseData(event), 'response')['error'] ?? {} });
      case 'error':
        throw classifyInnerError(parseData(event));
      default:
        return passUnlessError(event);
    }
  }

  /** Behind the terminal event the marker ends the answer with it; anywhere else it says nothing here. */
  #marker(): MeterReading {
    this.#marked = this.#over;
    return this.#over ? { signals: [], last: true } : HIDDEN;
  }

  #delta(text: string): CallSignal[] {
    const written = DELTA.stringsIn(text);
    const output = written === '' ? [] : [outputOf(written)];
    return [...this.#content(), ...output];
  }

  #item(event: SseEvent): CallSignal[] {
    const { type, name } = objectIn(parseData(event), 'item');
    if (EMPTY_ITEMS.has(type)) return [];
    return [...this.#content(), ...(typeof name === 'string' ? [outputOf(name)] : [])];
  }

  #usage(event: SseEvent): CallSignal[] {
    const { data } = event;
    const fields = readResponseFields(Buffer.from(data), TERMINAL);
    const usage = usageOf(
      this.#head,
      fields,
      RESPONSE,
      toolUsesIn(data, fields, `${RESPONSE}output`) ?? this.#toolUses,
    );
    return usage === undefined ? [] : [{ type: 'usage', usage }];
  }

  #stateOf(
    event: SseEvent,
    member: string,
    read: (value: JsonObject) => readonly CreatedState[],
  ): readonly CallSignal[] {
    return this.#head.demands?.createsState === true ? stateSignals(read(objectIn(parseData(event), member))) : [];
  }

  #content(): CallSignal[] {
    if (this.#begun) return [];
    this.#begun = true;
    return [{ type: 'content' }];
  }
}
