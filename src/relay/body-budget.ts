import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { AppError, monotonicMs } from '../shared/index.js';

/** Bodies come and go within seconds. */
const RETRY_AFTER_SECONDS = 2;
/** Slower uploads are ended first when memory is short. */
const MIN_UPLOAD_BYTES_PER_SECOND = 100_000;
/** An upload is not judged by its speed before this age. */
const MIN_UPLOAD_MS = 1000;
/** Fraction of the memory that one account may hold while others need it, and that it always leaves free for them. */
const FAIR_FRACTION = 1 / 4;

/**
 * Memory of all requests together, shared between accounts. Only bytes that have arrived count. What does not fit is
 * refused after uploads have made room: the slow ones first, then those of accounts with more than their fair share.
 */
@Injectable()
export class BodyBudget {
  private taken = 0;
  private readonly ofAccounts = new Map<string, number>();
  /** Bodies that are still arriving, the oldest first. */
  private readonly uploads = new Set<BodyShare>();

  constructor(private readonly config: Config) {}

  /** Bytes that are reserved now. */
  get takenBytes(): number {
    return this.taken;
  }

  /** @throws AppError server_is_overloaded */
  reserve(bytes: number, accountId = ''): BodyShare {
    const share = new BodyShare(accountId, this);
    share.growTo(bytes);
    return share;
  }

  /** For `BodyShare`. @throws AppError server_is_overloaded */
  take(share: BodyShare, bytes: number): void {
    if (this.isOver(share, bytes)) this.reclaim(share, bytes);
    if (this.isOver(share, bytes)) throw exhausted();
    this.add(share.accountId, bytes);
  }

  /** For `BodyShare`. */
  giveBack(share: BodyShare): void {
    this.uploads.delete(share);
    this.add(share.accountId, -share.bytes);
  }

  /** For `BodyShare`: while it uploads it can be ended to make room. */
  setUploading(share: BodyShare, isUploading: boolean): void {
    if (isUploading) this.uploads.add(share);
    else this.uploads.delete(share);
  }

  private add(accountId: string, bytes: number): void {
    this.taken += bytes;
    const held = this.heldBy(accountId) + bytes;
    if (held === 0) this.ofAccounts.delete(accountId);
    else this.ofAccounts.set(accountId, held);
  }

  private heldBy(accountId: string): number {
    return this.ofAccounts.get(accountId) ?? 0;
  }

  private get fairBytes(): number {
    return this.config.bodyMemoryBytes * FAIR_FRACTION;
  }

  /** The first body of an account may take all of the memory: one that is not too large is accepted when it is alone. */
  private isOver(share: BodyShare, bytes: number): boolean {
    const { bodyMemoryBytes } = this.config;
    const total = this.taken + bytes;
    const held = this.heldBy(share.accountId);
    const leavesRoom = held + bytes <= this.fairBytes || held === share.bytes;
    return total > bodyMemoryBytes - (leavesRoom ? 0 : this.fairBytes);
  }

  private reclaim(share: BodyShare, bytes: number): void {
    const nowMs = monotonicMs();
    const slow = [...this.uploads].filter((upload) => upload !== share && upload.isSlow(nowMs));
    this.end(slow, share, bytes);
    const fits = this.heldBy(share.accountId) + bytes <= this.fairBytes;
    const isGreedy = ({ accountId }: BodyShare): boolean => this.heldBy(accountId) > this.fairBytes;
    if (fits) this.end([...this.uploads].toReversed(), share, bytes, isGreedy);
  }

  private end(
    uploads: readonly BodyShare[],
    share: BodyShare,
    bytes: number,
    mayEnd: (upload: BodyShare) => boolean = () => true,
  ): void {
    for (const upload of uploads) {
      if (!this.isOver(share, bytes)) return;
      if (upload !== share && upload.bytes > 0 && mayEnd(upload)) upload.reclaim(exhausted());
    }
  }
}

/** What one request has of the budget. */
export class BodyShare {
  private size = 0;
  private onReclaimed: (error: AppError) => void = () => undefined;
  private startedMs = 0;

  constructor(
    readonly accountId: string,
    private readonly budget: BodyBudget,
  ) {}

  get bytes(): number {
    return this.size;
  }

  /** @throws AppError server_is_overloaded */
  growTo(bytes: number): void {
    if (bytes <= this.size) return;
    this.budget.take(this, bytes - this.size);
    this.size = bytes;
  }

  /** The body begins to arrive. @param onReclaimed called when it must end because its memory is needed */
  beginUpload(onReclaimed: (error: AppError) => void): void {
    this.onReclaimed = onReclaimed;
    this.startedMs = monotonicMs();
    this.budget.setUploading(this, true);
  }

  endUpload(): void {
    this.budget.setUploading(this, false);
  }

  isSlow(nowMs: number): boolean {
    const ms = nowMs - this.startedMs;
    return ms >= MIN_UPLOAD_MS && this.size < (MIN_UPLOAD_BYTES_PER_SECOND * ms) / 1000;
  }

  /** For `BodyBudget`. */
  reclaim(error: AppError): void {
    this.release();
    this.onReclaimed(error);
  }

  /** Gives all of it back; again does nothing. */
  release(): void {
    this.budget.giveBack(this);
    this.size = 0;
  }
}

const exhausted = (): AppError =>
  new AppError('server_is_overloaded', 'Request buffer memory is exhausted. Retry shortly.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
