import { AppError, type JsonObject } from '../../platform/shared/index.js';
import type { RequestLine } from './call.js';
import type { ListedModel } from './protocol-adapter.js';

const MAX_PAGE_MODELS = 1_000;

/**
 * The requested page of a list of models, for clients of every protocol: each reads the members it knows.
 * @param defaultLimit default page size
 * @throws AppError invalid_request naming the parameter
 */
export function renderModelPage(
  models: readonly ListedModel[],
  request: RequestLine,
  defaultLimit = Infinity,
): JsonObject {
  const page = pageOf(models, request, defaultLimit);
  return {
    object: 'list',
    data: page.models.map(renderListedModel),
    has_more: page.hasMore,
    first_id: page.models[0]?.id ?? null,
    last_id: page.models.at(-1)?.id ?? null,
  };
}

export function renderListedModel(model: ListedModel): JsonObject {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAt / 1000),
    owned_by: model.ownedBy,
    type: 'model',
    display_name: model.displayName,
    created_at: new Date(model.createdAt).toISOString(),
  };
}

interface ListedModels {
  readonly models: readonly ListedModel[];
  readonly hasMore: boolean;
}

/** The page requested by `limit`, `after_id` and `before_id`. */
function pageOf(models: readonly ListedModel[], request: RequestLine, defaultLimit: number): ListedModels {
  const query = new URLSearchParams(request.query);
  const limit = readLimit(query, defaultLimit);
  const after = positionOf(models, query, 'after_id');
  const before = positionOf(models, query, 'before_id');
  if (after !== undefined && before !== undefined) {
    throw refusal('before_id', 'cannot be used together with after_id');
  }
  if (before !== undefined) {
    const start = Math.max(0, before - limit);
    return { models: models.slice(start, before), hasMore: start > 0 };
  }
  const start = after === undefined ? 0 : after + 1;
  const end = Math.min(models.length, start + limit);
  return { models: models.slice(start, end), hasMore: end < models.length };
}

function readLimit(query: URLSearchParams, defaultLimit: number): number {
  const text = query.get('limit');
  if (text === null) return defaultLimit;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_PAGE_MODELS) {
    throw refusal('limit', `must be a whole number from 1 to ${MAX_PAGE_MODELS}`);
  }
  return limit;
}

function positionOf(models: readonly ListedModel[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name);
  if (id === null) return undefined;
  const position = models.findIndex((model) => model.id === id);
  if (position === -1) throw refusal(name, 'no such model');
  return position;
}

const refusal = (param: string, reason: string): AppError =>
  new AppError('invalid_request', `${param}: ${reason}.`, { param });
