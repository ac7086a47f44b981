import type { JsonObject } from '../../platform/shared/index.js';
import type { Call } from './call.js';
import { type JsonEdit, SplicedBody } from './json-splice.js';
import { headerOf } from './request-line.js';
import { sealEdits } from './seal-edits.js';
import type { UpstreamTarget } from './upstream-adapter.js';
import type { UpstreamRequest } from './upstream-request.js';

// What every dialect does alike when a client's own bytes go up.

/**
 * The names of models as the upstream knows them; nothing when it is the same. And without what this relay once sealed for the
 * client of another upstream: this one would refuse it.
 */
export function commonEdits(
  { head: { model, fields, demands }, body }: Call,
  target: Pick<UpstreamTarget, 'model' | 'namedModels'>,
): readonly JsonEdit[] {
  const renamed = model === target.model ? [] : [fields.assign('model', JSON.stringify(target.model))];
  const others = (demands?.models ?? []).map(({ name, field: { start, end } }) => ({
    start,
    end,
    text: JSON.stringify(target.namedModels?.get(name) ?? name),
  }));
  return [...renamed, ...others, ...sealEdits(body.bytes, fields.sealed)];
}

/** The headers of a request with a JSON body. */
export const jsonHeaders = (stream: boolean): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  accept: stream ? 'text/event-stream' : 'application/json',
});

/**
 * The headers of a request with a JSON body, and those of the client's that are named here. Nothing else of the
 * client's goes up. What it accepts says nothing: SDKs ask for JSON when they stream.
 */
export function upstreamHeaders({ head, request }: Call, ...forwarded: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = { ...jsonHeaders(head.stream) };
  for (const name of forwarded) {
    const value = headerOf(request, name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** A request of our own making, for a probe: JSON to a path behind the channel's base address. */
export const smallestRequest = (
  path: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): UpstreamRequest => ({
  path,
  query: '',
  headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  body: new SplicedBody({ bytes: Buffer.from(JSON.stringify(body)) }),
});
