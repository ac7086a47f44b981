import type { IncomingHttpHeaders } from 'node:http';

/** A request before its body is read. */
export interface RequestLine {
  readonly method: string;
  /** Canonical path (`/v1/messages`), without the query. */
  readonly path: string;
  /** Raw query without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** The header if it was sent exactly once; undefined otherwise. */
export function headerOf(request: RequestLine, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** ID of a registered adapter: `responses`, `chat-completions`, `messages` and others. */
export type ProtocolId = string;
