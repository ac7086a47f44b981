import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/index.js';
import { AppError, monotonicMs } from '../platform/shared/index.js';

/** Bodies come and go within seconds. */
const RETRY_AFTER_SECONDS = 2;
/** Share that an account may hold while others need memory. */
const FAIR_FRACTION = 1 / 4;
/** Share that a larger account must leave free: complete bodies cannot be aborted. */
const FREE_FRACTION = 1 / 2;

/** Slower uploads are aborted first when memory is short. */
const MIN_BYTES_PER_SECOND = 100_000;
/** Window for measuring upload speed, so that a fast start does not excuse a stall. */
const WINDOW_MS = 1000;

/**
 * Memory budget of all request bodies, shared between accounts. Only received bytes count. When it is exhausted,
 * uploads in progress are aborted: slow ones first, then those of accounts above their fair share. A request that still
 * does not fit is rejected; nothing waits.
 */
@Injectable()
export class BodyBudget {
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  /** Uploads in progress, oldest first. */
  private readonly uploads = new Set<BodyShare>();

  constructor(private readonly config: Config) {}

  /** Reserved bytes. */
  get takenBytes(): number {
    return this.taken;
  }

  /** An empty share for one request. */
  open(accountId: string): BodyShare {
    return new BodyShare(accountId, this);
  }

  /** For `BodyShare`. @throws AppError server_is_overloaded; request_too_large when it could never fit */
  take(share: BodyShare, bytes: number): void {
    if (share.bytes + bytes > this.config.bodyMemoryBytes) throw needsTooMuch();
    if (!this.fits(share, bytes)) this.makeRoom(share, bytes);
    if (!this.fits(share, bytes)) throw exhausted();
    this.add(share.accountId, bytes);
  }

  /** For `BodyShare`: reserves memory for processing, leaving some for others. @throws AppError as above */
  takeForWork(share: BodyShare, bytes: number): void {
    if (share.bytes + bytes > this.config.bodyMemoryBytes * (1 - FREE_FRACTION)) throw needsTooMuch();
    this.take(share, bytes);
  }

  /** For `BodyShare`. */
  giveBack({ accountId }: BodyShare, bytes: number): void {
    this.add(accountId, -bytes);
  }

  /** For `BodyShare`: whether it can be aborted to free memory. */
  setArriving(share: BodyShare, isArriving: boolean): void {
    if (isArriving) this.uploads.add(share);
    else this.uploads.delete(share);
  }

  private add(accountId: string, bytes: number): void {
    this.taken += bytes;
    const held = this.heldBy(accountId) + bytes;
    if (held === 0) this.takenBy.delete(accountId);
    else this.takenBy.set(accountId, held);
  }

  private heldBy(accountId: string): number {
    return this.takenBy.get(accountId) ?? 0;
  }

  private get fairBytes(): number {
    return this.config.bodyMemoryBytes * FAIR_FRACTION;
  }

  private isFair({ accountId }: BodyShare, bytes: number): boolean {
    return this.heldBy(accountId) + bytes <= this.fairBytes;
  }

  /** An account's only request may use all free memory; otherwise the largest bodies would never fit. */
  private fits(share: BodyShare, bytes: number): boolean {
    const isOnly = this.heldBy(share.accountId) === share.bytes;
    const leftFree = isOnly || this.isFair(share, bytes) ? 0 : FREE_FRACTION;
    return this.taken + bytes <= this.config.bodyMemoryBytes * (1 - leftFree);
  }

  private makeRoom(share: BodyShare, bytes: number): void {
    const isFair = this.isFair(share, bytes);
    if (!isFair && this.heldBy(share.accountId) !== share.bytes) return;
    const nowMs = monotonicMs();
    this.end(share, bytes, (upload) => upload.isSlow(nowMs));
    if (isFair) this.end(share, bytes, (upload) => !this.isFair(upload, 0));
  }

  /** Aborts matching uploads, newest first, until there is room. */
  private end(share: BodyShare, bytes: number, mayEnd: (upload: BodyShare) => boolean): void {
    for (const upload of [...this.uploads].toReversed()) {
      if (this.fits(share, bytes)) return;
      if (upload !== share && upload.bytes > 0 && mayEnd(upload)) upload.reclaim(exhausted());
    }
  }
}

/** Detects slow uploads. */
class UploadSpeed {
  private before: { readonly bytes: number; readonly atMs: number };
  private current: { readonly bytes: number; readonly atMs: number };

  constructor(startedMs: number) {
    this.before = this.current = { bytes: 0, atMs: startedMs };
  }

  /** @param bytes received so far */
  note(bytes: number, nowMs: number): void {
    if (nowMs - this.current.atMs < WINDOW_MS) return;
    this.before = this.current;
    this.current = { bytes, atMs: nowMs };
  }

  isSlow(bytes: number, nowMs: number): boolean {
    const since = nowMs - this.current.atMs >= WINDOW_MS ? this.current : this.before;
    const ms = nowMs - since.atMs;
    return ms >= WINDOW_MS && bytes - since.bytes < (MIN_BYTES_PER_SECOND * ms) / 1000;
  }
}

/** The share of one request. */
export class BodyShare {
  private held = 0;
  private speed: UploadSpeed | undefined;
  private onReclaimed: (error: AppError) => void = () => undefined;

  constructor(
    readonly accountId: string,
    private readonly budget: BodyBudget,
  ) {}

  get bytes(): number {
    return this.held;
  }

  /** @throws AppError server_is_overloaded */
  growTo(bytes: number): void {
    if (bytes <= this.held) return;
    this.budget.take(this, bytes - this.held);
    this.held = bytes;
    this.speed?.note(bytes, monotonicMs());
  }

  /** Reserves memory for processing besides the body. @throws AppError as above; request_too_large */
  growForWork(bytes: number): void {
    if (bytes <= this.held) return;
    this.budget.takeForWork(this, bytes - this.held);
    this.held = bytes;
  }

  shrinkTo(bytes: number): void {
    if (bytes >= this.held) return;
    this.budget.giveBack(this, this.held - bytes);
    this.held = bytes;
  }

  /**
   * Call when the body starts to arrive. @param onReclaimed called at most once, when the memory was given to another
   * request
   */
  beginUpload(onReclaimed: (error: AppError) => void): void {
    this.onReclaimed = onReclaimed;
    this.speed = new UploadSpeed(monotonicMs());
    this.budget.setArriving(this, true);
  }

  /** Call when the body is complete or reading stops. Idempotent. */
  endUpload(): void {
    this.speed = undefined;
    this.budget.setArriving(this, false);
  }

  isSlow(nowMs: number): boolean {
    return this.speed?.isSlow(this.held, nowMs) === true;
  }

  /** For `BodyBudget`. */
  reclaim(error: AppError): void {
    this.release();
    this.onReclaimed(error);
  }

  /** Releases everything. Idempotent. */
  release(): void {
    this.endUpload();
    this.shrinkTo(0);
  }
}

const exhausted = (): AppError =>
  new AppError('server_is_overloaded', 'Request buffer memory is exhausted. Retry shortly.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

const needsTooMuch = (): AppError =>
  new AppError('request_too_large', 'The request is larger than the total request buffer memory.');
