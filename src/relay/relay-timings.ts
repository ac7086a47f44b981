import { Injectable } from '@nestjs/common';

/** The engine's own limits of time, in milliseconds where the name says so; those of upstreams are the channels'. */
@Injectable()
export class RelayTimings {
  /** A stream that has been silent for so long gets a keep-alive. */
  readonly keepAliveMs: number = 10_000;
  /** What comes before the first content waits so long for it: until then another channel can still answer. */
  readonly preludeMs: number = 500;
  /** After the event that ends an answer, so long for a closing marker and the end of the upstream's body. */
  readonly lingerMs: number = 1000;
  /** Before another upstream is asked, for a fault that may pass: by chance up to so long, twice as long each time. */
  readonly backOffMs: number = 100;
  readonly longestBackOffMs: number = 1000;
  /** So long after a call came no other upstream is asked for it: SDKs give up after 10 minutes, and try again. */
  readonly lastAttemptMs: number = 570_000;
  /** An upstream's refusal is taken by its status when its words have not come so long after. */
  readonly refusalMs: number = 5_000;
  /** A body must arrive within this time, or at `bodyBytesPerSecond` in each such time. */
  readonly bodyMs: number = 60_000;
  readonly bodyBytesPerSecond: number = 10_000;
  /** A form of a page, which is small, must arrive within this time. */
  readonly formMs: number = 30_000;
  /** A client that was answered while it still sends is listened to for so long, that it may read the answer. */
  readonly lingerUnreadMs: number = 10_000;
  /** A client that takes no byte for so long counts as gone; it is noticed within twice the time. */
  readonly stalledClientMs: number = 60_000;
}
