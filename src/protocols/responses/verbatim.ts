import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  type CallHead,
  type CallSignal,
  classifyInnerError,
  commonEdits,
  createdIn,
  type CreatedState,
  createdState,
  dataKind,
  eventTypeReader,
  HIDDEN,
  type JsonEdit,
  jsonInterests,
  latin1,
  MemberFinder,
  type MeterReading,
  objectIn,
  objectsIn,
  outputOf,
  parseData,
  PASSED,
  passUnlessError,
  readJsonFields,
  readResponseFields,
  sealEdits,
  sealedSummary,
  splice,
  SplicedBody,
  type SseEvent,
  stateSignals,
  type StreamMeter,
  summaryText,
  truncatedStream,
  unreadableEvent,
  upstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { compactsOnly, VERBATIM_HEADERS, MIN_OUTPUT_TOKENS, OUTPUT_LIMIT } from './head.js';
import { type ToolUses, toolUsesIn, usageMembers, usageOf, withItem } from './usage.js';

const RESPONSE_MEMBERS = jsonInterests(...usageMembers(''), 'status', 'error');
const INPUT = jsonInterests('input');
const TEXTS = new MemberFinder('text', 'refusal', 'name', 'arguments', 'input');

/** Responses for its own clients. */
export class ResponsesVerbatim implements VerbatimLane {
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    const isCompaction = compactsOnly(call.request);
    const edits = isCompaction ? unlimited(target) : [...responseEdits(call, target), ...backgroundEdits(call)];
    return {
      path: isCompaction ? '/responses/compact' : '/responses',
      query: '',
      headers: upstreamHeaders(call, ...VERBATIM_HEADERS),
      body: rewritten(call, target, edits),
    };
  }

  meterStream(call: Call): StreamMeter {
    return new ResponsesMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const fields = readResponseFields(body, RESPONSE_MEMBERS);
    if (fields.value('status') === 'failed') throw classifyInnerError({});
    const usage = usageOf(head, fields, '', toolUsesIn(latin1(body), fields, 'output'));
    return [...usageSignals(usage, body, TEXTS), ...createdIn(head, body, stateOfResponse)];
  }
}

/** The client's bytes with these and all common edits. */
export const rewritten = (call: Call, target: UpstreamTarget, edits: readonly JsonEdit[]): SplicedBody =>
  new SplicedBody(call.body, [...commonEdits(call, target, readCompaction), ...storedEdits(call, target), ...edits]);

/** Edits of every request for responses, over HTTP or WebSocket. */
export const responseEdits = (call: Call, target: UpstreamTarget): readonly JsonEdit[] => [
  ...limitEdits(call, target),
  ...storeEdits(call, target),
];

/** Compactions made here are readable text for every upstream. */
export function readCompaction({ type, encrypted_content: sealed }: JsonObject): string | undefined {
  const summary = type === 'compaction' ? sealedSummary(sealed) : undefined;
  if (summary === undefined) return undefined;
  const content = [{ type: 'input_text', text: summaryText(summary.text) }];
  return JSON.stringify({ type: 'message', role: 'user', content });
}

/** Compactions have no output limit. @throws AppError insufficient_quota when only part of one is affordable */
function unlimited({ outputLimit }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined) return [];
  const message = `insufficient quota: the remaining credit covers ${outputLimit} output tokens of this compaction. Add credit.`;
  throw new AppError('insufficient_quota', message);
}

function limitEdits({ head }: Call, { outputLimit }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined || outputLimit >= (head.outputLimit ?? Infinity)) return [];
  return [head.fields.assign(OUTPUT_LIMIT, String(Math.max(MIN_OUTPUT_TOKENS, outputLimit)))];
}

/** The vendor stores responses by default. */
function storeEdits({ head }: Call, { mayStore }: UpstreamTarget): readonly JsonEdit[] {
  const isOpen = head.fields.optionalBoolean('store') !== false;
  return isOpen && (!mayStore || head.store === false) ? [head.fields.assign('store', 'false')] : [];
}

/** Puts the complete input in place of references to what is stored here. */
function storedEdits({ head: { fields } }: Call, { input }: UpstreamTarget): readonly JsonEdit[] {
  if (input === undefined) return [];
  const references = ['previous_response_id', 'conversation'].filter((name) => fields.has(name));
  const bytes = Buffer.from(`{"input":${input}}`);
  const { sealed } = readJsonFields(bytes, INPUT);
  const readable = Buffer.from(splice(bytes, sealEdits(bytes, sealed, readCompaction))).toString('utf8');
  return [
    fields.assign('input', readable.slice('{"input":'.length, -1)),
    ...references.map((name) => fields.assign(name, 'null')),
  ];
}

/** Background responses run here; the upstream streams them. */
const backgroundEdits = ({ head: { background, fields } }: Call): readonly JsonEdit[] =>
  background === true ? [fields.assign('background', 'false'), fields.assign('stream', 'true')] : [];

const DELTA = new MemberFinder('delta');
/** Distinguishes event types from those of nested items and parts. */
const typeOf = eventTypeReader('response\\.[a-z_.]+|error');
const RESPONSE = 'response.';
/** Members of a final event to read; the contained response is only decoded if hosted tools ran. */
const TERMINAL = jsonInterests(...usageMembers(RESPONSE), 'error');
/** Items that start empty; others are content. */
const EMPTY_ITEMS: ReadonlySet<unknown> = new Set(['message', 'reasoning']);

/** Meters events without changing them. */
export class ResponsesMeter implements StreamMeter {
  readonly #head: CallHead;
  #begun = false;
  /** The final event has arrived. */
  #over = false;
  #marked = false;
  /** Counted during the stream, for servers whose final event has no output. */
  #toolUses: ToolUses | undefined;

  constructor({ head }: Pick<Call, 'head'>) {
    this.#head = head;
  }

  get complete(): boolean {
    return this.#over;
  }

  /** A marker may follow the final event. */
  get closed(): boolean {
    return this.#marked;
  }

  end(): MeterReading {
    if (!this.complete) throw truncatedStream();
    return HIDDEN;
  }

  next(event: SseEvent): MeterReading {
    const kind = dataKind(event);
    if (this.#marked) return HIDDEN;
    if (kind === 'done') return this.#marker();
    // Unknown events after the final one are left to the client.
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

  /** After the final event the marker ends the response; elsewhere it is ignored. */
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

// State created by a response, from the types of openai 7.57.0: the conversation, containers of the code interpreter
// and the shell, and files written by code (`container_file_citation`, `file_path`).

const stateOfResponse = ({ conversation, output }: JsonObject): readonly CreatedState[] => [
  ...(isJsonObject(conversation) ? createdState('conversation', conversation['id']) : []),
  ...objectsIn(output).flatMap(stateOfItem),
];

function stateOfItem({ type, container_id: id, environment, content }: JsonObject): readonly CreatedState[] {
  switch (type) {
    case 'code_interpreter_call':
      return createdState('container', id);
    case 'shell_call':
      return isJsonObject(environment) ? createdState('container', environment['container_id']) : [];
    case 'message':
      return objectsIn(content).flatMap(({ annotations }) => objectsIn(annotations).flatMap(stateOfAnnotation));
    default:
      return [];
  }
}

/** Other citations refer to existing files. */
function stateOfAnnotation({ type, container_id: containerId, file_id: fileId }: JsonObject): readonly CreatedState[] {
  if (type === 'file_path') return createdState('file', fileId);
  if (type !== 'container_file_citation') return [];
  return [...createdState('container', containerId), ...createdState('file', fileId)];
}
