import { reasonOf, within } from '../shared/index.js';
import { type Notifications, UNHEARD_CACHE_MS } from './notifications.js';

/** Read timeout, in ms. */
const RESPONSE_TIMEOUT_MS = 5000;

/** The cached data, and how it is read. */
interface KeptSource<T> {
  /** Notified with each change. */
  readonly topic: string;
  read(): Promise<T>;
  /** Replaces the cached value; must not fail. */
  use(read: T): void;
  /**
   * Whether the cached value is outdated: checked each second while notifications are unavailable. Default: it is read
   * again.
   */
  isStale?(): Promise<boolean>;
  /** Called when a reload after a change failed; the cached value stays. */
  warn(reason: string): void;
}

/** Keeps a small value of the database in memory, updated by notifications, or every second without them. */
export class ReconnectingCopy<T> {
  /** The last read failed, so the value may be outdated. */
  private failed = false;
  private reading: Promise<void> | undefined;
  private queued: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopListening = (): void => undefined;
  private closing = false;

  constructor(
    private readonly notifications: Notifications,
    private readonly source: KeptSource<T>,
  ) {}

  /** Reads the value and follows its changes. @throws if reading fails */
  async open(): Promise<void> {
    this.stopListening = this.notifications.on(this.source.topic, () => this.refresh());
    this.notifications.onReconnect(() => void this.refresh());
    this.timer = setInterval(() => void this.checkUnheard(), UNHEARD_CACHE_MS).unref();
    await this.reload();
  }

  async close(): Promise<void> {
    this.closing = true;
    clearInterval(this.timer);
    this.stopListening();
    await Promise.allSettled([this.reading, this.queued]);
  }

  /**
   * Reads the value again; it includes everything committed before the call.
   * @throws if reading fails; the cached value stays
   */
  reload(): Promise<void> {
    if (this.reading === undefined) {
      this.reading = this.read().finally(() => (this.reading = undefined));
      return this.reading;
    }
    // A running read may have started before the change: one more read follows, shared by all callers.
    this.queued ??= this.reading
      .catch(() => undefined)
      .then(() => {
        this.queued = undefined;
        return this.reload();
      });
    return this.queued;
  }

  private async read(): Promise<void> {
    try {
      const read = await within(
        this.source.read().then((value) => ({ value })),
        RESPONSE_TIMEOUT_MS,
      );
      if (read === undefined) throw new Error('the database did not respond');
      this.source.use(read.value);
      this.failed = false;
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  /** Polls while notifications are unavailable or a reload has failed. */
  private async checkUnheard(): Promise<void> {
    if ((this.notifications.connected && !this.failed) || this.reading !== undefined || this.closing) return;
    try {
      if (this.failed || ((await this.source.isStale?.()) ?? true)) await this.reload();
    } catch {
      // The health check reports the outage; retried in a second.
    }
  }

  private async refresh(): Promise<void> {
    if (!this.closing) await this.reload().catch((error: unknown) => this.source.warn(reasonOf(error)));
  }
}
