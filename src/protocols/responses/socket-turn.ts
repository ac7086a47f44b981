import { AppError, type JsonObject } from '../../platform/shared/index.js';
import {
  dataKind,
  eventTypeReader,
  type JsonFields,
  jsonInterests,
  objectIn,
  parseData,
  readJsonFields,
  type SocketTurn,
  type SseEvent,
  stringOf,
} from '../contract/index.js';
import type { CreateMessage, Steer } from './socket-messages.js';
import { isLocalShell } from './usage.js';

/** Max size of the responses that a connection keeps, each with its whole input. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** A response that later requests of the connection may continue. */
export interface KeptResponse {
  readonly id: string;
  /** The stored response that it continues; undefined: `items` is everything. */
  readonly previousId: string | undefined;
  /** Input and output as JSON, separated by commas. */
  readonly items: string;
  /** Whether `items` lacks reasoning that the upstream keeps, as it does for what its socket continues. */
  readonly isPartial: boolean;
}

/** Only these need to be read. */
const typeOf = eventTypeReader('response\\.(?:created|output_item\\.done)');
const DONE_ITEM = jsonInterests(
  'output_index',
  'item',
  'item.type',
  'item.id',
  'item.call_id',
  'item.name',
  'item.encrypted_content',
  'item.execution',
  'item.environment.type',
);

/** One `response.create`, from its arrival to the end of its response. */
export class ResponseTurn implements SocketTurn {
  /** Known once the response is created. */
  responseId: string | undefined;
  /** The whole input, without output, if it is kept. */
  input: Omit<KeptResponse, 'id' | 'isPartial'> | undefined;
  /** For a response that follows by itself; undefined: not possible. */
  settings: string | undefined;
  /** Accepted for a response after this one. */
  readonly steers: Steer[] = [];
  /** Steers that are part of this request. Delivered once the response is created. */
  inherited: readonly Steer[] = [];
  /** Outputs or decisions that the client owes. */
  readonly required: JsonObject[] = [];
  private readonly output = new Map<number, string>();
  private isPartial = false;
  private waiting: CreateMessage | undefined;

  /** @param isSuccessor it follows another response because of a steer */
  constructor(
    message: CreateMessage,
    readonly isSuccessor = false,
  ) {
    this.waiting = message;
    this.id = message.arrival.id;
    this.streamId = message.streamId;
    this.previousId = message.previousId;
  }

  readonly id: string;
  readonly streamId: string | undefined;
  readonly previousId: string | undefined;

  get waitingBytes(): number {
    return this.waiting?.size ?? 0;
  }

  /** The message, which is not needed afterwards. */
  take(): CreateMessage {
    const { waiting } = this;
    if (waiting === undefined) throw new TypeError('A turn was started twice.');
    this.waiting = undefined;
    return waiting;
  }

  /** Reads an event and returns its data as one line; undefined for events without data. */
  read(event: SseEvent): Uint8Array | undefined {
    const kind = dataKind(event);
    if (kind === 'none' || kind === 'done') return undefined;
    const type = typeOf(event);
    if (type === 'response.created') this.created(stringOf(objectIn(parseData(event), 'response')['id']));
    else if (type !== undefined) this.itemDone(event);
    const { wire, text, dataAt, dataEnd } = event;
    return text.slice(dataAt, dataEnd).includes('\n') ? Buffer.from(event.data) : wire.subarray(dataAt, dataEnd);
  }

  created(responseId: string | undefined): void {
    this.responseId ??= responseId;
    this.inherited = [];
  }

  /** The complete response; undefined if it is too long or need not be kept. */
  kept(): KeptResponse | undefined {
    const { responseId, input, isPartial } = this;
    if (input === undefined || responseId === undefined) return undefined;
    const output = [...this.output].toSorted(([one], [other]) => one - other).map(([, item]) => item);
    const items = joined(input.items, ...output);
    return Buffer.byteLength(items) > MAX_KEPT_BYTES ? undefined : { ...input, id: responseId, items, isPartial };
  }

  private itemDone(event: SseEvent): void {
    try {
      const fields = readJsonFields(Buffer.from(event.data), DONE_ITEM);
      const item = fields.field('item');
      const required = requiredBy(fields);
      if (required !== undefined) this.required.push(required);
      if (isUnreadable(fields)) this.isPartial = true;
      else if (item !== undefined && this.input !== undefined)
        this.output.set(fields.optionalInteger('output_index', { min: 0 }) ?? this.output.size, fields.text(item));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Without this item, a continuation would be wrong.
      this.input = undefined;
    }
  }
}

/** Reasoning is only accepted in a request with its content. */
const isUnreadable = (fields: JsonFields): boolean =>
  fields.hint('item.type') === 'reasoning' && fields.field('item.encrypted_content')?.kind !== 'string';

/** The form in which the client must send an item; undefined: it need not. */
function requiredBy(fields: JsonFields): JsonObject | undefined {
  const type = fields.hint('item.type');
  const call = { type: `${type}_output`, call_id: fields.hint('item.call_id') };
  switch (type) {
    case 'function_call':
      return { ...call, name: fields.hint('item.name') };
    case 'custom_tool_call':
    case 'computer_call':
    case 'apply_patch_call':
      return call;
    case 'shell_call':
      return isLocalShell(fields.hint('item.environment.type')) ? call : undefined;
    case 'tool_search_call':
      return fields.hint('item.execution') === 'client'
        ? { ...call, type: 'tool_search_output', execution: 'client' }
        : undefined;
    case 'mcp_approval_request':
      return { type: 'mcp_approval_response', approval_request_id: fields.hint('item.id') };
    default:
      return undefined;
  }
}

/** Items separated by commas. */
export const joined = (...items: readonly string[]): string => items.filter((item) => item !== '').join(',');
