import { AppError, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  type Continuation,
  type JsonFields,
  JsonReader,
  NO_TOKENS,
  type SocketAction,
  type SocketArrival,
  type SocketMessageReader,
  type SocketSession,
  type SseEvent,
} from '../contract/index.js';
import { ResponseObject, responseId } from './response-object.js';
import { CreateMessage, errorText, MESSAGE_MEMBERS, type Steer, steerIn, streamIdIn } from './socket-messages.js';
import { joined, type KeptResponse, MAX_KEPT_BYTES, ResponseTurn } from './socket-turn.js';

/** The vendor's limits of a connection. */
const MAX_RUNNING = 16;
const MAX_NAMED_LANES = 32;
/** Requests that wait for an earlier one of their lane, and their total size. */
const MAX_WAITING = 32;
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_STEERS = 16;

/** Requests with the same `stream_id`, which run one after the other; those without one share a lane. */
interface Lane {
  readonly streamId: string | undefined;
  running: ResponseTurn | undefined;
  readonly waiting: ResponseTurn[];
  /** The last response, if it is kept here. */
  kept: KeptResponse | undefined;
  lastId: string | undefined;
  /** Steers that wait until the client sends what the last response requires. */
  pending: { readonly steers: Steer[]; readonly required: readonly JsonObject[] } | undefined;
}

/** Responses over WebSocket: lanes, responses that are kept for continuations, warm-ups and steering. */
export class ResponsesSession implements SocketSession {
  private readonly lanes = new Map<string | undefined, Lane>();
  private running = 0;
  /** Sequence number of the next steering event. */
  private sequence = 0;

  get isBusy(): boolean {
    return this.running > 0 || this.waiting > 0;
  }

  get keptBytes(): number {
    return [...this.lanes.values()].reduce((sum, { kept }) => sum + (kept?.items.length ?? 0), 0);
  }

  message(arrival: SocketArrival): SocketMessageReader {
    const reader = new JsonReader(MESSAGE_MEMBERS);
    let malformed: unknown;
    const next = (arrived: Uint8Array): void => {
      if (malformed !== undefined) return;
      try {
        reader.next(arrived);
      } catch (error) {
        malformed = error;
      }
    };
    const end = (bytes: Buffer): readonly SocketAction[] => {
      let fields: JsonFields | undefined;
      try {
        if (malformed !== undefined) throw malformed;
        fields = reader.end({ bytes });
        return this.accept(fields, bytes, arrival);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return [send(errorText(error, arrival.id, fields && fields.hint('stream_id')))];
      }
    };
    return { next, end };
  }

  event(turn: ResponseTurn, event: SseEvent): Uint8Array | undefined {
    const data = turn.read(event);
    if (turn.streamId === undefined || data === undefined) return data;
    const start = data.indexOf(OPENING_BRACE) + 1;
    const prefix = Buffer.from(`{"stream_id":${JSON.stringify(turn.streamId)},`);
    return Buffer.concat([prefix, data.subarray(start)]);
  }

  completed(turn: ResponseTurn): readonly SocketAction[] {
    const lane = this.ended(turn);
    lane.kept = turn.kept();
    lane.lastId = turn.responseId;
    return [...this.afterCompletion(turn, lane), ...this.startWaiting()];
  }

  warmedUp(turn: ResponseTurn, call: Call): readonly SocketAction[] {
    turn.created(responseId(call));
    const object = new ResponseObject(call, { store: false });
    const event = (type: string, number: number, response: string): SocketAction => {
      const data = `{"type":"response.${type}","sequence_number":${number},"response":${response}}`;
      return send(withStreamId(data, turn.streamId));
    };
    return [
      event('created', 0, object.text({ status: 'in_progress', output: [] })),
      event('completed', 1, object.text({ status: 'completed', output: [], usage: NO_TOKENS })),
      ...this.completed(turn),
    ];
  }

  failed(turn: ResponseTurn, error: AppError, isReported: boolean): readonly SocketAction[] {
    this.ended(turn);
    for (const lane of this.lanes.values()) if (lane.kept?.id === turn.previousId) lane.kept = undefined;
    const undelivered = this.steersFailed(turn.inherited, 'successor_creation_failed', error.message, turn.streamId);
    const isTold = isReported || turn.isSuccessor;
    return [
      ...undelivered,
      ...(isTold ? [] : [send(errorText(error, turn.id, turn.streamId))]),
      ...this.steersFailed(turn.steers, 'response_not_active', 'The response failed.', turn.streamId),
      ...this.startWaiting(),
    ];
  }

  forget(): void {
    for (const lane of this.lanes.values()) lane.kept = undefined;
  }

  errorText(error: AppError, requestId: string): string {
    return errorText(error, requestId, undefined);
  }

  private get waiting(): number {
    return [...this.lanes.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  private get waitingBytes(): number {
    const turns = [...this.lanes.values()].flatMap(({ waiting }) => waiting);
    return turns.reduce((sum, { waitingBytes }) => sum + waitingBytes, 0);
  }

  private accept(fields: JsonFields, bytes: Buffer, arrival: SocketArrival): readonly SocketAction[] {
    const type = fields.hint('type');
    if (type === 'response.steer') return this.steer(bytes, arrival);
    if (type !== 'response.create')
      throw fields.refusal('type', 'invalid_value', 'must be "response.create" or "response.steer"');
    streamIdIn(fields);
    if (arrival.refusal !== undefined) throw arrival.refusal;
    const turn = new ResponseTurn(new CreateMessage(arrival, bytes, fields));
    const { waiting } = this.laneOf(turn);
    waiting.push(turn);
    const actions = this.startWaiting();
    if (this.waiting <= MAX_WAITING && this.waitingBytes <= MAX_WAITING_BYTES) return actions;
    waiting.pop();
    throw new TooManyWaiting();
  }

  /** @throws AppError when there are too many */
  private laneOf({ streamId }: ResponseTurn): Lane {
    const known = this.lanes.get(streamId);
    if (known !== undefined) return known;
    if (this.lanes.size - (this.lanes.has(undefined) ? 1 : 0) >= MAX_NAMED_LANES && streamId !== undefined)
      throw new TooManyLanes();
    const lane = { streamId, running: undefined, waiting: [], kept: undefined, lastId: undefined, pending: undefined };
    this.lanes.set(streamId, lane);
    return lane;
  }

  private ended(turn: ResponseTurn): Lane {
    const lane = this.laneOf(turn);
    lane.running = undefined;
    this.running -= 1;
    return lane;
  }

  private startWaiting(): SocketAction[] {
    const actions: SocketAction[] = [];
    for (const lane of this.lanes.values()) {
      if (lane.running !== undefined || this.running >= MAX_RUNNING) continue;
      const turn = lane.waiting.shift();
      if (turn !== undefined) actions.push(...this.start(turn, lane));
    }
    return actions;
  }

  private start(turn: ResponseTurn, lane: Lane): SocketAction[] {
    lane.running = turn;
    this.running += 1;
    const message = turn.take();
    const { previousId } = message;
    const abandoned = this.resolvePending(turn, lane);
    const continued = this.keptAs(previousId);
    // A successor has them as its own input.
    const steers = turn.isSuccessor ? [] : turn.inherited.map((steer) => steer.items);
    const items = joined(continued?.items ?? '', ...steers);
    const base = continued === undefined ? previousId : continued.previousId;
    if (message.isKept) turn.input = inputOf(message, items, base);
    turn.settings = message.settings();
    const isChanged = continued !== undefined || items !== '';
    const body = message.body(isChanged ? { items, previousId: base } : undefined);
    if (message.isWarmUp) return [...abandoned, { type: 'warm_up', turn, body }];
    // Otherwise, the upstream would read and report a longer prompt than the body that is checked and charged.
    const isSame = continued?.isPartial === false;
    const continuation = isSame ? continuationOf(message, continued.id, joined(...steers)) : undefined;
    return [...abandoned, { type: 'call', turn, body, ...(continuation && { continuation }) }];
  }

  private keptAs(id: string | undefined): KeptResponse | undefined {
    if (id === undefined) return undefined;
    for (const { kept } of this.lanes.values()) if (kept?.id === id) return kept;
    return undefined;
  }

  // Steering.

  private steer(bytes: Buffer, arrival: SocketArrival): readonly SocketAction[] {
    const isTooLarge = bytes.length > MAX_KEPT_BYTES;
    const message = isTooLarge ? {} : (JSON.parse(bytes.toString('utf8')) as JsonObject);
    const refuse = (code: string, text: string, lane?: Lane): readonly SocketAction[] => {
      const { previous_response_id, input } = message;
      return [
        this.steerEvent('failed', { steer: { previous_response_id, input }, error: steerError(code, text) }, lane),
      ];
    };
    let steer: Steer;
    try {
      if (isTooLarge) throw new AppError('invalid_request', 'The input is too large.');
      steer = steerIn(message, arrival);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return refuse('invalid_input', error.message);
    }
    for (const lane of this.lanes.values()) {
      const { running, pending, lastId } = lane;
      const queue = running?.responseId === steer.previousId ? running.steers : undefined;
      const isPending = pending !== undefined && lastId === steer.previousId;
      if (queue !== undefined && running?.settings === undefined)
        return refuse('steering_not_supported', 'This request cannot be steered.', lane);
      const steers = queue ?? (isPending ? pending.steers : undefined);
      if (steers === undefined) continue;
      if (steers.length >= MAX_STEERS) return refuse('too_many_pending_steers', 'Too much input is pending.', lane);
      steers.push(steer);
      const accepted = this.steerEvent('accepted', { steer: named(steer) }, lane);
      return isPending && queue === undefined
        ? [accepted, this.pendingEvent(steer, pending.required, lane)]
        : [accepted];
    }
    const ended = [...this.lanes.values()].find(({ lastId }) => lastId === steer.previousId);
    return ended === undefined
      ? refuse('response_not_found', 'No response with this ID is running on this connection.')
      : refuse('response_already_completed', 'The response is complete. Send the input with response.create.', ended);
  }

  /** Accepted steers lead to another response, unless the client has to send something first. */
  private afterCompletion(turn: ResponseTurn, lane: Lane): readonly SocketAction[] {
    const { steers, required, settings, responseId: id, streamId } = turn;
    if (steers.length === 0) return [];
    if (required.length > 0) {
      lane.pending = { steers, required };
      return steers.map((steer) => this.pendingEvent(steer, required, lane));
    }
    const [first] = steers;
    if (first === undefined || settings === undefined || id === undefined)
      return this.steersFailed(steers, 'successor_creation_failed', 'The response has no ID.', streamId);
    const input = `"previous_response_id":${JSON.stringify(id)},"input":[${joined(...steers.map(({ items }) => items))}]`;
    const bytes = Buffer.from(`{"type":"response.create",${input},${settings.trimStart().slice(1)}`);
    const fields = new JsonReader(MESSAGE_MEMBERS).end({ bytes });
    const successor = new ResponseTurn(new CreateMessage(first.arrival, bytes, fields), true);
    successor.inherited = steers;
    lane.waiting.unshift(successor);
    return [];
  }

  /** Adds pending steers to a request that continues their response; they fail if it continues another. */
  private resolvePending(turn: ResponseTurn, lane: Lane): readonly SocketAction[] {
    const { pending } = lane;
    if (pending === undefined) return [];
    lane.pending = undefined;
    if (turn.previousId !== lane.lastId)
      return this.steersFailed(pending.steers, 'response_not_active', 'Another response was created.', lane.streamId);
    turn.inherited = pending.steers;
    return [];
  }

  private steersFailed(
    steers: readonly Steer[],
    code: string,
    message: string,
    streamId: string | undefined,
  ): readonly SocketAction[] {
    return steers.map((steer) => {
      const told = { steer: { ...named(steer), input: steer.input }, error: steerError(code, message) };
      return this.steerEvent('failed', told, { streamId });
    });
  }

  private pendingEvent(steer: Steer, required: readonly JsonObject[], lane: Lane): SocketAction {
    const event = { reason: 'waiting_for_required_input', required_input: required, steer: named(steer) };
    return this.steerEvent('pending', event, lane);
  }

  private steerEvent(outcome: string, event: JsonObject, lane?: Pick<Lane, 'streamId'>): SocketAction {
    const data = { type: `response.steer.${outcome}`, sequence_number: this.sequence++, ...event };
    return send(withStreamId(JSON.stringify(data), lane?.streamId));
  }
}

/** Undefined if the message is too large to be kept for it. @param items of steers, in front of its own */
function continuationOf(message: CreateMessage, previousId: string, items: string): Continuation | undefined {
  if (message.size > MAX_KEPT_BYTES) return undefined;
  return { previousId, body: () => message.body(items === '' ? undefined : { items, previousId }) };
}

/** Undefined if it is too large to be kept. */
function inputOf(message: CreateMessage, items: string, previousId: string | undefined): ResponseTurn['input'] {
  const own = message.items(MAX_KEPT_BYTES);
  return own === undefined ? undefined : { items: joined(items, own), previousId };
}

const OPENING_BRACE = 0x7b;

const send = (text: string): SocketAction => ({ type: 'send', text });

const withStreamId = (data: string, streamId: string | undefined): string =>
  streamId === undefined ? data : `{"stream_id":${JSON.stringify(streamId)},${data.slice(1)}`;

const named = ({ id, previousId }: Steer): JsonObject => ({ id, previous_response_id: previousId });

const steerError = (code: string, message: string): JsonObject => ({ type: 'invalid_request_error', code, message });

class TooManyLanes extends AppError {
  constructor() {
    super('invalid_request', `A connection has at most ${MAX_NAMED_LANES} stream IDs. Reuse one, or connect again.`, {
      param: 'stream_id',
      fault: 'websocket_stream_limit_reached',
    });
  }
}

class TooManyWaiting extends AppError {
  constructor() {
    super(
      'rate_limit_exceeded',
      `More than ${MAX_WAITING} requests wait on this connection. Wait for their responses.`,
    );
  }
}
