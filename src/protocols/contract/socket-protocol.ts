import type { AppError } from '../../platform/shared/index.js';
import type { Call, RequestLine } from './call.js';
import type { SseEvent } from './sse.js';

/** Calls over a WebSocket: each message of the client starts one, and the events of its response are messages. Pure. */
export interface SocketProtocol {
  /** Path of the handshake. */
  readonly path: string;
  /** The request line of each call: the handshake's, without what concerns the connection only. */
  lineOf(handshake: RequestLine): RequestLine;
  /** The state of a new connection. */
  open(): SocketSession;
}

/**
 * The state machine of one connection, without I/O, clock and randomness. Every change returns what to do, in order.
 * Nothing is thrown: errors are messages.
 */
export interface SocketSession {
  /** Whether calls are running or waiting. */
  readonly isBusy: boolean;
  /** Memory of earlier responses, in bytes. */
  readonly keptBytes: number;
  /** Reads one message. */
  message(arrival: SocketArrival): SocketMessageReader;
  /** The message for an event of a call's response; undefined for events without content. */
  event(turn: SocketTurn, event: SseEvent): Uint8Array | undefined;
  /** A call has ended, and all its events were passed. */
  completed(turn: SocketTurn): readonly SocketAction[];
  /** A `warm_up` was accepted. */
  warmedUp(turn: SocketTurn, call: Call): readonly SocketAction[];
  /** @param isReported events of the response, which end with the error, were passed */
  failed(turn: SocketTurn, error: AppError, isReported: boolean): readonly SocketAction[];
  /** Forgets earlier responses. */
  forget(): void;
  /** The message for an error that belongs to no call. */
  errorText(error: AppError, requestId: string): string;
}

/** Properties of a message besides its bytes. */
export interface SocketArrival {
  /** ID of the call that it may start. */
  readonly id: string;
  /** Whether the key allows stored responses. */
  readonly mayStore: boolean;
  /** Why no call may start. */
  readonly refusal: AppError | undefined;
}

export interface SocketMessageReader {
  /** The message so far: the previous bytes and more. Optional for short messages. */
  next(arrived: Uint8Array): void;
  end(bytes: Buffer): readonly SocketAction[];
}

/** A call on a connection. */
export interface SocketTurn {
  /** `req_…` */
  readonly id: string;
  /** Turns with the same one run one after the other; undefined: those without one. */
  readonly streamId: string | undefined;
}

/** The same request as the body of a call, without what the upstream knows if it keeps the previous response. */
export interface Continuation {
  readonly previousId: string;
  body(): Buffer;
}

export type SocketAction =
  | { readonly type: 'send'; readonly text: string | Uint8Array }
  /** Start a call with this body, whose response is streamed. */
  | { readonly type: 'call'; readonly turn: SocketTurn; readonly body: Buffer; readonly continuation?: Continuation }
  /** Check a request without running it. */
  | { readonly type: 'warm_up'; readonly turn: SocketTurn; readonly body: Buffer };
