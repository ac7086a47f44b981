import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/index.js';
import { AppError, monotonicMs } from '../platform/shared/index.js';

/** Bodies come and go within seconds. */
const RETRY_AFTER_SECONDS = 2;
/** What one account may hold while others need memory. */
const FAIR_FRACTION = 1 / 4;
/** What an account that holds more leaves free: bodies that have arrived cannot be ended to make room. */
const FREE_FRACTION = 1 / 2;

/** A slower upload makes room first when memory is short. */
const MIN_BYTES_PER_SECOND = 100_000;
/** An upload is judged by at least this much time, and by little more: a fast beginning does not excuse a stall. */
const WINDOW_MS = 1000;

/**
 * Memory that the requests of all calls take together, shared between accounts. Only bytes that have arrived count. When
 * it is short, uploads that still arrive are ended to make room: the slow ones first, then those of accounts with more
 * than their fair share. A request that does not fit even so is refused; nothing waits.
 */
@Injectable()
export class BodyBudget {
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  /** Of bodies that are still arriving, the oldest first. */
  private readonly uploads = new Set<BodyShare>();

  constructor(private readonly config: Config) {}

  /** Bytes that are reserved now. */
  get takenBytes(): number {
    return this.taken;
  }

  /** The share of one request, empty at first. */
  open(accountId: string): BodyShare {
    return new BodyShare(accountId, this);
  }

  /** For `BodyShare`. @throws AppError server_is_overloaded; request_too_large when it would never fit */
  take(share: BodyShare, bytes: number): void {
    if (share.bytes + bytes > this.config.bodyMemoryBytes) throw needsTooMuch();
    if (!this.fits(share, bytes)) this.makeRoom(share, bytes);
    if (!this.fits(share, bytes)) throw exhausted();
    this.add(share.accountId, bytes);
  }

  /** For `BodyShare`: work on a body must leave memory for others. @throws AppError likewise */
  takeForWork(share: BodyShare, bytes: number): void {
    if (share.bytes + bytes > this.config.bodyMemoryBytes * (1 - FREE_FRACTION)) throw needsTooMuch();
    this.take(share, bytes);
  }

  /** For `BodyShare`. */
  giveBack({ accountId }: BodyShare, bytes: number): void {
    this.add(accountId, -bytes);
  }

  /** For `BodyShare`: from now on it can be ended to make room, or not any more. */
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

  /** The only request of an account may take all that is free: otherwise a body of the largest size would never fit. */
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

  /** Ends other uploads of a kind, the youngest first, until there is room. */
  private end(share: BodyShare, bytes: number, mayEnd: (upload: BodyShare) => boolean): void {
    for (const upload of [...this.uploads].toReversed()) {
      if (this.fits(share, bytes)) return;
      if (upload !== share && upload.bytes > 0 && mayEnd(upload)) upload.reclaim(exhausted());
    }
  }
}

/** Whether a body that is arriving has become slow. */
class UploadSpeed {
  private before: { readonly bytes: number; readonly atMs: number };
  private current: { readonly bytes: number; readonly atMs: number };

  constructor(startedMs: number) {
    this.before = this.current = { bytes: 0, atMs: startedMs };
  }

  /** @param bytes that have arrived by now */
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

/** What one request has of the budget. */
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

  /** For work on a body that has a share of its own. @throws AppError likewise; request_too_large */
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

  /** The body begins to arrive. @param onReclaimed called at most once, when its memory was given to another request */
  beginUpload(onReclaimed: (error: AppError) => void): void {
    this.onReclaimed = onReclaimed;
    this.speed = new UploadSpeed(monotonicMs());
    this.budget.setArriving(this, true);
  }

  /** All of it has arrived, or no more is read. Again does nothing. */
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

  /** Gives all of it back; again does nothing. */
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
