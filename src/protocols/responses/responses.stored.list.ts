import { isTreeObject, type JsonTree, type TreeObject } from '../contract/index.js';
import { AppError } from '../../platform/shared/index.js';

const DEFAULT_ITEMS = 20;
const MAX_ITEMS = 100;

/** One page of what a response was an answer to, newest first unless the query says otherwise. */
export function inputItems(answerId: string, input: readonly JsonTree[], query: URLSearchParams): TreeObject {
  const items = input.map((item, index) => withId(item, answerId, index));
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

/** What the client sent without an id has one by its place, always the same. */
function withId(item: JsonTree, answerId: string, index: number): TreeObject {
  const members = isTreeObject(item) ? item : {};
  const { id, type } = members;
  return {
    ...members,
    type: type ?? 'message',
    id: typeof id === 'string' ? id : `${answerId.replace(/^resp_/, 'item_')}_${index}`,
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
