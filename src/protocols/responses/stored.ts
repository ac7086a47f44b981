import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  isTreeObject,
  type JsonTree,
  parseData,
  type RenderedResponse,
  type RequestLine,
  type ResolvedResponses,
  type ResponseReferences,
  type ResponseStorage,
  SseSplitter,
  type StoredResponseText,
  type TreeObject,
} from '../contract/index.js';
import { responsesHeadReader } from './head.js';
import { responseId } from './response-object.js';

/** Items stored without a request have no headers. */
const NO_REQUEST: RequestLine = { method: 'POST', path: '', query: '', headers: {} };
const PREVIOUS_RESPONSE = 'previous_response_id';
const FINAL_EVENTS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);
const OPENING_BRACE = 0x7b;

/** How clients refer to stored content: a previous response, or single items. */
export const RESPONSES_STORAGE = {
  kind: 'response',
  idOf: responseId,
  referencesIn,
  expand,
  inputAfter,
  inputOf,
  responseIn,
} satisfies ResponseStorage;

function referencesIn(request: TreeObject): ResponseReferences {
  const previous = request[PREVIOUS_RESPONSE];
  return {
    responseId: typeof previous === 'string' ? previous : undefined,
    itemIds: inputOf(request).flatMap((item) => referenceIn(item) ?? []),
  };
}

/**
 * Puts the previous input and output in front, and items in place of references.
 * @throws AppError invalid_request naming a missing response or item, or an item referred to twice
 */
function expand(request: TreeObject, { response: previousResponse, ofItems }: ResolvedResponses): TreeObject {
  // Stored here, or else rejected when the request is read.
  const { [PREVIOUS_RESPONSE]: previous, conversation, ...rest } = request;
  const others = previousResponse === undefined && conversation !== undefined ? { ...rest, conversation } : rest;
  if (typeof previous === 'string' && previousResponse === undefined)
    throw notStored(`The response "${previous}"`, PREVIOUS_RESPONSE);
  const used = new Set<string>();
  const own = inputOf(request).map((item, index) => {
    const id = referenceIn(item);
    if (id === undefined) return item;
    // Items are unbounded, so repeating them could expand a short request without limit.
    if (used.has(id)) throw duplicateReference(id, `input[${index}].id`);
    used.add(id);
    return itemOf(ofItems.get(id), id) ?? fail(notStored(`The item "${id}"`, `input[${index}].id`));
  });
  return {
    ...others,
    input: [
      ...(previousResponse === undefined ? [] : [...previousResponse.input, ...outputOf(previousResponse)]),
      ...own,
    ],
  };
}

/** Joins texts, so that numbers and key order of the client's input stay. */
function inputAfter(call: Call, { input, response }: { readonly input: string; readonly response: string }): string {
  const { fields } = call.head;
  const field = fields.field('input');
  const own = field === undefined ? '[]' : fields.text(field);
  const items = field?.kind === 'string' ? `[{"type":"message","role":"user","content":${own}}]` : own;
  const { output = [] } = JSON.parse(response) as JsonObject;
  const lists = [input, JSON.stringify(output), items].map((list) => list.trim().slice(1, -1));
  return `[${lists.filter((list) => list.trim() !== '').join(',')}]`;
}

/** A string is a user message. */
function inputOf({ input }: TreeObject): readonly JsonTree[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  return Array.isArray(input) ? (input as readonly JsonTree[]) : [];
}

function responseIn(last: Uint8Array): RenderedResponse | undefined {
  const response = last[0] === OPENING_BRACE ? parsed(last) : streamed(last);
  if (response === undefined || typeof response['id'] !== 'string' || !Array.isArray(response['output']))
    return undefined;
  const itemIds = response['output'].flatMap((item: unknown) =>
    isJsonObject(item) && typeof item['id'] === 'string' ? [item['id']] : [],
  );
  return { id: response['id'], itemIds, text: () => JSON.stringify(response) };
}

function streamed(last: Uint8Array): JsonObject | undefined {
  const splitter = new SseSplitter();
  for (const event of [...splitter.next(last), ...splitter.end()]) {
    const data = parseData(event);
    if (data !== undefined && FINAL_EVENTS.has(data['type']) && isJsonObject(data['response'])) return data['response'];
  }
  return undefined;
}

function parsed(last: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(last).toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    // The end of a response too long to be buffered.
    return undefined;
  }
}

/** References may omit their type: they have an ID but neither role nor content. */
function referenceIn(item: JsonTree): string | undefined {
  if (!isTreeObject(item) || typeof item['id'] !== 'string') return undefined;
  const type = item['type'] ?? undefined;
  const isReference = type === undefined ? !('role' in item || 'content' in item) : type === 'item_reference';
  return isReference ? item['id'] : undefined;
}

const outputOf = ({ response: { output } }: StoredResponseText): readonly JsonTree[] =>
  Array.isArray(output) ? (output as readonly JsonTree[]) : [];

const itemOf = (previousResponse: StoredResponseText | undefined, id: string): JsonTree | undefined =>
  previousResponse && outputOf(previousResponse).find((item) => isTreeObject(item) && item['id'] === id);

function fail(error: AppError): never {
  throw error;
}

const notStored = (what: string, param: string): AppError =>
  new AppError(
    'invalid_request',
    `${what} is not stored for this key; responses are stored for a day. Send the whole conversation with "store": false.`,
    { param, fault: 'previous_response_not_found' },
  );

const duplicateReference = (id: string, param: string): AppError =>
  new AppError('invalid_request', `The item "${id}" is referenced twice.`, {
    param,
    fault: 'invalid_value',
  });

const DEFAULT_ITEMS = 20;
const MAX_ITEMS = 100;

/** Newest first by default. */
export function inputItems(parentId: string, input: readonly JsonTree[], query: URLSearchParams): TreeObject {
  const items = input.map((item, index) => withId(item, parentId, index));
  const ordered = orderOf(query) === 'asc' ? items : items.toReversed();
  const start = startOf(ordered, query.get('after'));
  const limit = limitOf(query);
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + limit < ordered.length,
  };
}

/** Items sent without an ID get a deterministic one. */
function withId(item: JsonTree, parentId: string, index: number): TreeObject {
  const members = isTreeObject(item) ? item : {};
  const { id, type } = members;
  return {
    ...members,
    type: type ?? 'message',
    id: typeof id === 'string' ? id : `${parentId.replace(/^resp_/, 'item_')}_${index}`,
  };
}

function startOf(items: readonly TreeObject[], after: string | null): number {
  if (after === null) return 0;
  const place = items.findIndex(({ id }) => id === after);
  if (place < 0) throw invalid('after', 'is not an item of this response');
  return place + 1;
}

function orderOf(query: URLSearchParams): string {
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'must be asc or desc');
  return order;
}

function limitOf(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_ITEMS;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_ITEMS) throw invalid('limit', `must be an integer from 1 to ${MAX_ITEMS}`);
  return limit;
}

const invalid = (param: string, what: string): AppError =>
  new AppError('invalid_request', `${param} ${what}.`, { param, fault: 'invalid_value' });

/**
 * Checks items to be stored without a request, in which what they name would be verified and priced.
 * @throws AppError invalid_request naming the item
 */
export function requireStorable(items: readonly unknown[]): void {
  for (const [index, item] of items.entries()) {
    const bytes = Buffer.from(JSON.stringify({ model: 'm', input: [item] }));
    const { effort, demands } = responsesHeadReader(NO_REQUEST).end({ bytes });
    const [tool] = [...(demands?.hostedTools ?? []), ...(demands?.models ?? [])];
    const priced = tool?.path ?? (effort && 'input[0].reasoning.effort');
    const what = priced === undefined ? 'refers to upstream state' : 'changes the price of calls';
    const path = priced ?? demands?.scopedIds.at(0)?.path;
    if (path === undefined) continue;
    const param = `items[${index}]${/^input\[0\](.*)$/.exec(path)?.[1] ?? ''}`;
    throw new AppError('invalid_request', `${param}: ${what}; send it with a request instead.`, {
      param,
      fault: 'invalid_value',
    });
  }
}
