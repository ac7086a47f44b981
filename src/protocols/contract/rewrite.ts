import type { JsonObject } from '../../platform/shared/index.js';
import type { Call } from './call.js';
import { type JsonEdit, SplicedBody } from './json-splice.js';
import { headerOf } from './request-line.js';
import { sealEdits } from './seal-edits.js';
import type { UpstreamTarget } from './upstream-adapter.js';
import type { UpstreamRequest } from './upstream-request.js';

// Verbatim requests: edits common to all protocols.

/**
 * Replaces model names by the upstream's, and removes reasoning that was sealed for another upstream, which this one
 * would reject.
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

/** Headers of a JSON request. */
export const jsonHeaders = (stream: boolean): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  accept: stream ? 'text/event-stream' : 'application/json',
});

/**
 * Headers of a JSON request plus the named client headers. Nothing else is forwarded. The client's Accept is ignored:
 * SDKs ask for JSON when they stream.
 */
export function upstreamHeaders({ head, request }: Call, ...forwarded: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = { ...jsonHeaders(head.stream) };
  for (const name of forwarded) {
    const value = headerOf(request, name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** The minimal request for a probe: JSON to a path below the base URL. */
export const jsonProbe = (
  path: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): UpstreamRequest => ({
  path,
  query: '',
  headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  body: new SplicedBody({ bytes: Buffer.from(JSON.stringify(body)) }),
});
