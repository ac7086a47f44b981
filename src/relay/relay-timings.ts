import { Injectable } from '@nestjs/common';

/** The engine's own time limits, in milliseconds; those of upstreams are the channels'. */
@Injectable()
export class RelayTimings {
  /** A stream that has been silent for so long gets a keep-alive. */
  readonly keepAliveMs: number = 10_000;
  /** What comes before the first content waits so long for it: until then another channel can still answer. */
  readonly preludeMs: number = 500;
  /** After the event that ends an answer, so long for a closing marker and the end of the upstream's body. */
  readonly lingerMs: number = 1000;
  /** A client that takes no byte for so long counts as gone; it is noticed within twice the time. */
  readonly stalledClientMs: number = 60_000;
}
