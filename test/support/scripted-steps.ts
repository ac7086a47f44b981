/**
 * The steps a scripted response is made of. A script is a step, a list of scripts (arrays and
 * generators alike), or a function of the request that gives one, so that ready-made responses
 * can be mixed with single steps: `[chunkEvery(1), chatAnswer({ text: 'Hi' })]`.
 */

import type { RecordedRequest } from './scripted-request.js';

export type JsonObject = Readonly<Record<string, unknown>>;
export type ProtocolEndpoint = 'responses' | 'chat-completions' | 'messages';
export type Headers = Readonly<Record<string, string | number | readonly string[]>>;

/** A server-sent event before encoding; a string as `data` is sent as it is (`[DONE]`, or broken JSON). */
export interface ScriptedEvent {
  readonly event?: string;
  readonly data: JsonObject | string;
}

/** `reset`: the client sees a connection error (RST). `close`: it sees the connection end (FIN) with the response unfinished. */
export type DisconnectKind = 'reset' | 'close';

export type Step =
  | { readonly type: 'head'; readonly status: number; readonly headers: Headers }
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  | { readonly type: 'raw'; readonly bytes: Buffer }
  | { readonly type: 'chunk-every'; readonly size: number }
  | { readonly type: 'cut-at'; readonly offsets: readonly number[] }
  | { readonly type: 'stop-after'; readonly bytes: number; readonly how: 'end' | DisconnectKind }
  | { readonly type: 'delay'; readonly ms: number }
  | { readonly type: 'wait-for'; readonly until: () => PromiseLike<unknown> }
  | { readonly type: 'hang' }
  | { readonly type: 'destroy'; readonly how: DisconnectKind }
  | { readonly type: 'end' };

export type Script = Step | Iterable<Script> | ((request: RecordedRequest) => Script | Promise<Script>);

/** Status line and headers. Without it the first bytes go out under Node's bare 200. */
export function head(status: number, headers: Headers = {}): Step {
  return { type: 'head', status, headers };
}

/** The head of an event stream, as vendors send it. */
export function streamHead(headers: Headers = {}): Step {
  return head(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers });
}

/** Body bytes, in one write unless `chunkEvery` or `cutAt` says otherwise. */
export function bytes(content: Buffer | string): Step {
  return { type: 'bytes', bytes: Buffer.from(content) };
}

/** Bytes past HTTP, straight to the socket: for responses that are no HTTP. Not part of `sent`; follow with `destroy('close')`. */
export function raw(content: Buffer | string): Step {
  return { type: 'raw', bytes: Buffer.from(content) };
}

/** Events in canonical framing (LF, one data line), each in a write of its own. */
export function sse(events: Iterable<ScriptedEvent>): Script {
  return Array.from(events, (event) => bytes(encodeEvent(event)));
}

/** From here on the body is written in pieces of `size` bytes. The reader sees each as a chunk of its own. */
export function chunkEvery(size: number): Step {
  if (!Number.isInteger(size) || size < 1) throw new RangeError('chunkEvery needs a size of at least 1 byte');
  return { type: 'chunk-every', size };
}

/** From here on a write is also cut at these offsets, counted from the beginning of the body. */
export function cutAt(...offsets: readonly number[]): Step {
  return { type: 'cut-at', offsets };
}

/** Truncation: after `count` bytes of the body the response ends cleanly or the connection breaks, whatever follows. */
export function stopAfter(count: number, how: 'end' | DisconnectKind = 'end'): Step {
  return { type: 'stop-after', bytes: count, how };
}

export function delay(ms: number): Step {
  return { type: 'delay', ms };
}

/** Waits for a promise, a gate, or what a function gives when its turn comes. */
export function waitFor(until: PromiseLike<unknown> | (() => PromiseLike<unknown>)): Step {
  return { type: 'wait-for', until: typeof until === 'function' ? until : () => until };
}

/** Says nothing more until the client leaves or the test is over. */
export function hang(): Step {
  return { type: 'hang' };
}

/**
 * Breaks the connection. A reset may overtake bytes the client has not read yet: where
 * those matter, put a `delay` or `waitFor` before it.
 */
export function destroy(how: DisconnectKind = 'reset'): Step {
  return { type: 'destroy', how };
}

/** Ends the response. A script that simply stops ends it too. */
export function end(): Step {
  return { type: 'end' };
}

/** A promise that a test opens by hand: `waitFor(gate)` in the script, `gate.open()` in the test. */
export interface Gate extends Promise<void> {
  open(): void;
}

export function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return Object.assign(opened, { open });
}

/** `event:` line if there is a name, one `data:` line, blank line. */
export function encodeEvent({ event, data }: ScriptedEvent): Buffer {
  const payload = typeof data === 'string' ? data : JSON.stringify(data);
  return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${payload}\n\n`);
}

export function encodeEvents(events: Iterable<ScriptedEvent>): Buffer {
  return Buffer.concat(Array.from(events, encodeEvent));
}

/**
 * The same body once for every place where it can be cut in two: one script per offset, each a
 * whole streamed response. `for (const script of cutAtEveryPosition(events)) …`
 */
export function* cutAtEveryPosition(events: Iterable<ScriptedEvent>): Generator<Script> {
  const body = encodeEvents(events);
  for (let offset = 1; offset < body.length; offset += 1) yield [streamHead(), cutAt(offset), bytes(body), end()];
}
