import { reasonOf, within } from '../shared/index.js';
import { type Notifications, UNHEARD_CACHE_MS } from './notifications.js';

/** How long reading may take, in ms: a connection may be open and yet say nothing ever again. */
const ANSWER_TIMEOUT_MS = 5000;

/** What is kept, and how it is read. */
interface KeptSource<T> {
  /** Told to every process with each change. */
  readonly topic: string;
  read(): Promise<T>;
  /** Takes what was read into use; must not fail. */
  use(read: T): void;
  /** Whether what is in use is old: asked each second while nothing can be heard. Left out, it is read to know. */
  isStale?(): Promise<boolean>;
  /** Told why it could not be read again after a change; what is in use stays. */
  warn(reason: string): void;
}

/** Keeps a small thing of the database in memory, at most as old as a notification takes, or one second without them. */
export class ReconnectingCopy<T> {
  /** The last attempt to read failed, so that what is here may be old whatever was heard. */
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

  /** Reads it for the first time and follows its changes. @throws what reading throws */
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
   * Reads it again. Whoever awaits it sees everything that was committed before the call.
   * @throws what reading throws; what is in use stays
   */
  reload(): Promise<void> {
    if (this.reading === undefined) {
      this.reading = this.read().finally(() => (this.reading = undefined));
      return this.reading;
    }
    // A read that already runs may have looked before the change: one more follows it, for all who ask meanwhile.
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
        ANSWER_TIMEOUT_MS,
      );
      if (read === undefined) throw new Error('the database did not respond');
      this.source.use(read.value);
      this.failed = false;
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  /** While no notification can arrive, or one could not be followed. */
  private async checkUnheard(): Promise<void> {
    if ((this.notifications.connected && !this.failed) || this.reading !== undefined || this.closing) return;
    try {
      if (this.failed || ((await this.source.isStale?.()) ?? true)) await this.reload();
    } catch {
      // The database is away, which its own health check tells; the next second tries again.
    }
  }

  private async refresh(): Promise<void> {
    if (!this.closing) await this.reload().catch((error: unknown) => this.source.warn(reasonOf(error)));
  }
}
