import { Injectable } from '@nestjs/common';

/** Time limits of the engine, in ms unless named otherwise; those of upstreams are set per channel. */
@Injectable()
export class RelayTimings {
  /** Interval of keep-alives on silent streams. */
  readonly keepAliveMs: number = 10_000;
  /** How long events before the first content are held back, so that another channel can still take over. */
  readonly preludeMs: number = 500;
  /** Wait for a closing marker and the end of the upstream's body after the final event. */
  readonly lingerMs: number = 1000;
  /** Max backoff before the first retry; doubles with each retry. */
  readonly backOffMs: number = 100;
  readonly maxBackOffMs: number = 1000;
  /** No attempt begins later than this: SDKs time out after 10 minutes and retry. */
  readonly lastAttemptMs: number = 570_000;
  /** Wait for the body of an error; then it is classified by status. */
  readonly refusalMs: number = 5_000;
  /** Time limit for a body; longer ones must arrive at `bodyBytesPerSecond`. */
  readonly bodyMs: number = 60_000;
  readonly bodyBytesPerSecond: number = 10_000;
  /** Time limit for forms. */
  readonly formMs: number = 30_000;
  /** How long a client may keep sending after its response, so that it can read it. */
  readonly lingerUnreadMs: number = 10_000;
  /** A client that accepts no byte for this long counts as gone; detected within twice the time. */
  readonly stalledClientMs: number = 60_000;
  /** Interval of pings on WebSockets; without any sign of life in between, the client counts as gone. */
  readonly pingMs: number = 20_000;
  /** Max age of a WebSocket, as the vendor has it. */
  readonly socketMs: number = 3_600_000;
  /** Time during which a channel that refused a WebSocket gets requests over HTTP only. */
  readonly socketRetryMs: number = 300_000;
}
