import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  type CallHead,
  type CallSignal,
  classifyInnerError,
  commonEdits,
  countIn,
  createdIn,
  type CreatedState,
  createdState,
  dataKind,
  eventTypeReader,
  HIDDEN,
  type JsonEdit,
  jsonInterests,
  MemberFinder,
  type MeterReading,
  objectIn,
  objectsIn,
  outputOf,
  parseData,
  passUnlessError,
  readData,
  readJsonFields,
  readResponseFields,
  sealEdits,
  splice,
  SplicedBody,
  type SseEvent,
  stateSignals,
  type StreamMeter,
  summaryText,
  truncatedStream,
  unreadableEvent,
  type UpstreamRequest,
  type UpstreamTarget,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { unaffordableThinking } from './errors.js';
import { requestContext, THINKING_BUDGET, thinkingBudget } from './head.js';
import { KEPT, keptMembers } from './threads.js';
import { MessagesUsage } from './usage.js';

const RESPONSE = jsonInterests('usage', 'error');

/** Messages for its own clients. */
export class MessagesVerbatim implements VerbatimLane {
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    return {
      path: '/messages',
      ...requestContext(call),
      body: new SplicedBody(call.body, [
        ...commonEdits(call, target, readCompaction),
        ...limitEdits(call, target),
        ...threadEdits(call, target),
      ]),
    };
  }

  meterStream(call: Call): StreamMeter {
    return new MessagesMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const usage = new MessagesUsage().merge(readResponseFields(body, RESPONSE).object('usage'));
    const created = createdIn(head, body, (message) => stateOfMessage(head, message));
    return [...usageSignals(usage, body, TEXTS), ...created];
  }
}

/** Compactions made here are readable text for every upstream. */
export function readCompaction({ type, content }: JsonObject): string | undefined {
  if (type !== 'compaction' || typeof content !== 'string') return undefined;
  return JSON.stringify({ type: 'text', text: summaryText(content) });
}

/**
 * @throws AppError insufficient_quota when reasoning would use up the affordable limit, which every upstream rejects
 */
function limitEdits({ head }: Call, { outputLimit }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined || outputLimit >= (head.outputLimit ?? Infinity)) return [];
  const budget = thinkingBudget(head.fields);
  if (budget !== undefined && outputLimit <= budget) {
    throw unaffordableThinking(outputLimit, THINKING_BUDGET, budget);
  }
  return [head.fields.assign('max_tokens', String(outputLimit))];
}

/** A new thread of the upstream, with the content of the one stored here. */
function threadEdits({ head: { fields } }: Call, { input }: UpstreamTarget): readonly JsonEdit[] {
  if (input === undefined) return [];
  const bytes = Buffer.from(input);
  const readable = splice(bytes, sealEdits(bytes, readJsonFields(bytes, KEPT).sealed, readCompaction));
  const kept = [...keptMembers(readable)].map(([name, text]) => fields.assign(name, text));
  return [fields.assign('thread', '{"type":"create"}'), ...kept];
}

/** Members with output. */
const TEXTS = new MemberFinder('text', 'thinking', 'name', 'partial_json');
/** Members with initial text of a block. */
const BLOCK_TEXTS = ['text', 'thinking', 'name'];

const typeOf = eventTypeReader('message_(?:start|delta|stop)|content_block_(?:start|delta)|error');

/** Meters events without changing them. */
export class MessagesMeter implements StreamMeter {
  readonly #head: CallHead;
  readonly #usage = new MessagesUsage();
  #begun = false;
  #over = false;
  /** Output was reported; the initial count is a placeholder. */
  #isReported = false;

  constructor({ head }: Pick<Call, 'head'>) {
    this.#head = head;
  }

  get closed(): boolean {
    return this.#over;
  }

  end(): MeterReading {
    if (!this.#over) throw truncatedStream();
    return HIDDEN;
  }

  next(event: SseEvent): MeterReading {
    const kind = dataKind(event);
    // Some servers send another protocol's marker.
    if (this.#over || kind === 'done') return HIDDEN;
    if (kind === 'other') throw unreadableEvent();
    switch (typeOf(event)) {
      case 'content_block_delta':
        return { signals: this.#delta(event.text), last: false };
      case 'content_block_start':
        return { signals: this.#block(event), last: false };
      case 'message_start':
        return { signals: this.#start(objectIn(readData(event), 'message')), last: false };
      case 'message_delta':
        return { signals: this.#endOf(readData(event)), last: false };
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

  /** A starting text or reasoning block is usually empty; other blocks are content. */
  #block(event: SseEvent): CallSignal[] {
    const block = objectIn(readData(event), 'content_block');
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

// State created by a response, from the types of @anthropic-ai/sdk 1.12.0: the container (`container`), files written
// by code (`*_output` blocks, `container_upload`), and the message from which a thread continues.

const RESULTS: ReadonlySet<unknown> = new Set(['code_execution_tool_result', 'bash_code_execution_tool_result']);
const OUTPUTS: ReadonlySet<unknown> = new Set(['code_execution_output', 'bash_code_execution_output']);

/** @param message of `message_start`, or the whole response */
const stateOfMessage = ({ fields }: Pick<CallHead, 'fields'>, message: JsonObject): readonly CreatedState[] => [
  ...stateOfContainer(message),
  ...(fields.has('thread') ? createdState('thread', message['id']) : []),
  ...objectsIn(message['content']).flatMap(stateOfBlock),
];

function stateOfContainer({ container }: JsonObject): readonly CreatedState[] {
  return isJsonObject(container) ? createdState('container', container['id'], container['expires_at']) : [];
}

function stateOfBlock({ type, content, file_id: fileId }: JsonObject): readonly CreatedState[] {
  if (type === 'container_upload') return createdState('file', fileId);
  if (!RESULTS.has(type) || !isJsonObject(content)) return [];
  return objectsIn(content['content'])
    .filter((output) => OUTPUTS.has(output['type']))
    .flatMap((output) => createdState('file', output['file_id']));
}
