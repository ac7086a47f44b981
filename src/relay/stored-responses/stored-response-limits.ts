import { Injectable } from '@nestjs/common';

const HOUR_MS = 60 * 60 * 1000;
const MIB = 1024 * 1024;

/** How much is kept, and how long. What a key keeps beyond this pushes out its oldest. */
@Injectable()
export class StoredResponseLimits {
  /** A conversation goes on within the day, and whoever wants a copy for longer has one: nothing is kept for good. */
  readonly keptMs: number = 24 * HOUR_MS;
  /** As long as the vendor of the dialect keeps answers; of these only the id and the channel are known here. */
  readonly originMs: number = 30 * 24 * HOUR_MS;
  /** Of one answer, as its texts are, and compressed and sealed. What is larger is not kept. */
  readonly textLength: number = 16 * MIB;
  readonly sealedBytes: number = MIB;
  /** Of all answers that one request names items of: each was small when it was sealed. */
  readonly recalledLength: number = 32 * MIB;
  /** So many items one request may name. */
  readonly recalledItems: number = 20_000;
  /** Of one key. */
  readonly keptOfKey: number = 500;
  readonly sealedBytesOfKey: number = 64 * MIB;
  readonly originsOfKey: number = 10_000;
  /** Ids of state that upstreams created, counted from their last use, and of one account. */
  readonly stateMs: number = 30 * 24 * HOUR_MS;
  readonly statesOfAccount: number = 10_000;
}
