import type { IncomingHttpHeaders } from 'node:http';

/** What is known of a request before its body is read. */
export interface RequestLine {
  readonly method: string;
  /** The path in its usual form (`/v1/messages`), whatever form the client used, without the query. */
  readonly path: string;
  /** The query as sent, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** A header's value when it was sent exactly as one string; undefined otherwise. */
export function headerOf(request: RequestLine, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The id of a registered adapter: `responses`, `chat-completions`, `messages`, or whatever else is added. */
export type ProtocolId = string;
