import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { Notifications, TOPICS, UNHEARD_CACHE_MS } from '../../../platform/database/index.js';
import { Clock, reasonOf, within } from '../../../platform/shared/index.js';
import { type Cooldown, type CooldownReason, HealthLimits, isOver, stageOf } from './cooldown.js';

type CooldownRef = Pick<Cooldown, 'subject' | 'id'>;

/** A cooldown's row: times relative to now by the database's clock, negative if past. */
interface StoredCooldown extends Pick<Cooldown, 'subject' | 'id' | 'strikes'> {
  readonly reason: CooldownReason;
  readonly cooldownMs: number;
  /** 0: no probe. */
  readonly probeMs: number;
}

const ms = (parameter: string): string => `${parameter} * interval '1 ms'`;

/** Of concurrent cooldowns the longer one stays, unless it has expired. $5: ms. */
const BEGIN = `
  INSERT INTO channel_rests AS r (subject, id, reason, strikes, until)
  VALUES ($1, $2, $3, $4, now() + ${ms('$5::float8')})
  ON CONFLICT (subject) DO UPDATE
    SET id = EXCLUDED.id, reason = EXCLUDED.reason, strikes = EXCLUDED.strikes, until = EXCLUDED.until, probe_until = NULL
  WHERE r.until < EXCLUDED.until OR r.probe_until IS NOT NULL
  RETURNING id`;

/**
 * One statement, so that one call of all processes gets it. A missing row is recreated. Of another process's cooldowns
 * only expired ones can be claimed: our clock may be wrong.
 */
const CLAIM = `
  INSERT INTO channel_rests AS r (subject, id, reason, strikes, until, probe_until)
  VALUES ($1, $2, $3, $4, now(), now() + ${ms('$5::float8')})
  ON CONFLICT (subject) DO UPDATE SET id = EXCLUDED.id, probe_until = EXCLUDED.probe_until
  WHERE (r.probe_until IS NULL OR r.probe_until <= now()) AND (r.id = EXCLUDED.id OR r.until <= now())
  RETURNING id`;

const ALL = `
  SELECT subject, id, reason, strikes, extract(epoch FROM until - now())::float8 * 1000 AS "cooldownMs",
         greatest(0, coalesce(extract(epoch FROM probe_until - now()), 0))::float8 * 1000 AS "probeMs"
    FROM channel_rests`;

/** Of deleted channels and replaced credentials. */
const DELETE_OLD = `DELETE FROM channel_rests WHERE until < now() - interval '7 days'`;

@Injectable()
export class CooldownRepository {
  constructor(private readonly dataSource: DataSource) {}

  all(): Promise<StoredCooldown[]> {
    return this.dataSource.query(ALL);
  }

  /** @returns whether this cooldown takes effect */
  async begin({ subject, id, reason, strikes }: Cooldown, cooldownMs: number): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(BEGIN, [subject, id, reason, strikes, cooldownMs])).length > 0;
  }

  /** @returns whether this process may probe */
  async claimProbe({ subject, id, reason, strikes }: Cooldown, probeMs: number): Promise<boolean> {
    return (await this.dataSource.query<unknown[]>(CLAIM, [subject, id, reason, strikes, probeMs])).length > 0;
  }

  async end({ subject, id }: CooldownRef): Promise<void> {
    await this.dataSource.query('DELETE FROM channel_rests WHERE subject = $1 AND id = $2', [subject, id]);
  }

  async releaseProbe({ subject, id }: CooldownRef): Promise<void> {
    await this.dataSource.query('UPDATE channel_rests SET probe_until = NULL WHERE subject = $1 AND id = $2', [
      subject,
      id,
    ]);
  }

  async deleteOld(): Promise<void> {
    await this.dataSource.query(DELETE_OLD);
  }
}

/** Max wait for claiming a probe. */
const CLAIM_TIMEOUT_MS = 1000;

/** Messages between processes: a cooldown began, ended, or lost its probe. */
type CooldownChange =
  | ({ readonly state: 'begun' } & StoredCooldown)
  | ({ readonly state: 'over' | 'released' } & Pick<Cooldown, 'subject' | 'id'>);

type CooldownMessage = CooldownChange & { readonly from: string };

/**
 * All cooldowns: in memory, where every call looks, and in a table, which shares them with other and later processes.
 * Local changes take effect immediately and are written behind; during a database outage a process uses its own.
 * Without cooldowns, nothing is written, read or awaited.
 */
@Injectable()
export class SharedCooldowns implements OnModuleInit, OnModuleDestroy {
  /** Called when a cooldown ends, in any process. */
  onOver: ((subject: string) => void) | undefined;
  private readonly logger = new Logger('Channels');
  /** Identifies our own messages, which are ignored. */
  private readonly self = randomUUID();
  private readonly cooldowns = new Map<string, Cooldown>();
  /** Cooldowns of this process that are not written yet, by subject. */
  private readonly unwritten = new Map<string, Cooldown>();
  /** The last write; writes are serialized. */
  private writing: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private stopListening = (): void => undefined;

  constructor(
    private readonly repository: CooldownRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    private readonly limits: HealthLimits,
  ) {}

  async onModuleInit(): Promise<void> {
    this.stopListening = this.notifications.on(TOPICS.rest, (message) => this.onMessage(message as CooldownMessage));
    this.notifications.onReconnect(() => void this.refresh());
    this.timer = setInterval(() => {
      if (!this.notifications.connected) void this.refresh();
    }, UNHEARD_CACHE_MS).unref();
    await this.repository.deleteOld();
    await this.refresh();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    this.stopListening();
    await within(this.written(), CLAIM_TIMEOUT_MS);
  }

  /** Resolves when all changes so far were written or failed. */
  async written(): Promise<void> {
    await this.writing;
  }

  /** Undefined if there is none. */
  find(subject: string): Cooldown | undefined {
    if (this.cooldowns.size === 0) return undefined;
    const cooldown = this.cooldowns.get(subject);
    if (cooldown === undefined || !isOver(cooldown, this.clock.now())) return cooldown;
    this.cooldowns.delete(subject);
    return undefined;
  }

  /** Begins a cooldown. A running one keeps its end if that is later. */
  begin({
    cooldownMs,
    ...begun
  }: Pick<Cooldown, 'subject' | 'reason' | 'strikes'> & { readonly cooldownMs: number }): Cooldown {
    const cooldown = { ...begun, id: randomUUID(), untilMs: this.clock.now() + cooldownMs, probeUntilMs: 0 };
    this.cooldowns.set(cooldown.subject, cooldown);
    this.unwritten.set(cooldown.subject, cooldown);
    this.write(() => this.writeBegun(cooldown));
    return cooldown;
  }

  /** Extends it slightly, in this process only. */
  extend({ subject, id, untilMs }: Cooldown, laterMs: number): void {
    const known = this.cooldowns.get(subject);
    if (known?.id === id && laterMs > untilMs) this.cooldowns.set(subject, { ...known, untilMs: laterMs });
  }

  /** Ends a cooldown. False, without effect, if another one has begun meanwhile. */
  end({ subject, id }: Cooldown): boolean {
    const known = this.cooldowns.get(subject);
    if (known !== undefined && known.id !== id) return false;
    this.cooldowns.delete(subject);
    this.unwritten.delete(subject);
    this.onOver?.(subject);
    this.write(async () => {
      await this.repository.end({ subject, id });
      await this.publish({ state: 'over', subject, id });
    });
    return true;
  }

  /**
   * Claims the probe of an expired cooldown for one call of all processes, until it reports or `probeMs` have passed.
   */
  async claimProbe(cooldown: Cooldown): Promise<boolean> {
    const { probeMs } = this.limits;
    const known = this.cooldowns.get(cooldown.subject);
    // It ended or was replaced while its call claimed something else.
    if (known?.id !== cooldown.id || stageOf(known, this.clock.now()) !== 'due') return false;
    this.cooldowns.set(cooldown.subject, { ...cooldown, probeUntilMs: this.clock.now() + probeMs });
    try {
      const claimed = await within(
        this.writing.then(() => this.repository.claimProbe(cooldown, probeMs)),
        CLAIM_TIMEOUT_MS,
      );
      if (claimed === false) await within(this.refresh(), CLAIM_TIMEOUT_MS);
      return claimed !== false;
    } catch (error) {
      this.logger.warn(`Failed to claim a channel probe: ${reasonOf(error)}`);
      return true;
    }
  }

  /** The probing call showed nothing: another one may probe. */
  releaseProbe({ subject, id }: Cooldown): void {
    this.clearProbe(subject, id);
    this.write(async () => {
      await this.repository.releaseProbe({ subject, id });
      await this.publish({ state: 'released', subject, id });
    });
  }

  /** Reads all cooldowns and rewrites those that could not be written. */
  private async refresh(): Promise<void> {
    try {
      const rows = await this.repository.all();
      const gone = new Set(this.cooldowns.keys());
      for (const row of rows) {
        gone.delete(row.subject);
        if (!this.unwritten.has(row.subject)) this.take(row);
      }
      for (const subject of gone) if (!this.unwritten.has(subject)) this.forget(subject);
      for (const cooldown of this.unwritten.values()) this.write(() => this.writeBegun(cooldown));
    } catch (error) {
      this.logger.debug(`Failed to read shared channel cooldowns: ${reasonOf(error)}`);
    }
  }

  private onMessage(message: CooldownMessage): void {
    const { subject, id, from } = message;
    if (from === this.self) return;
    if (message.state === 'begun') return this.take(message);
    if (message.state === 'released') return this.clearProbe(subject, id);
    const known = this.cooldowns.get(subject);
    // A due cooldown with another ID has ended under that ID.
    if (known !== undefined && (known.id === id || known.untilMs <= this.clock.now())) this.forget(subject);
  }

  private take({ subject, id, reason, strikes, cooldownMs, probeMs }: StoredCooldown): void {
    const nowMs = this.clock.now();
    const probeUntilMs = probeMs > 0 ? nowMs + probeMs : 0;
    const known = this.cooldowns.get(subject);
    // Our own clock has already started counting.
    const cooldown =
      known?.id === id
        ? { ...known, probeUntilMs }
        : { subject, id, reason, strikes, untilMs: nowMs + cooldownMs, probeUntilMs };
    if (!isOver(cooldown, nowMs)) this.cooldowns.set(subject, cooldown);
  }

  private clearProbe(subject: string, id: string): void {
    const known = this.cooldowns.get(subject);
    if (known?.id === id) this.cooldowns.set(subject, { ...known, probeUntilMs: 0 });
  }

  private forget(subject: string): void {
    this.cooldowns.delete(subject);
    this.onOver?.(subject);
  }

  private async writeBegun(cooldown: Cooldown): Promise<void> {
    const { subject, id, reason, strikes } = cooldown;
    if (this.unwritten.get(subject) !== cooldown) return;
    const cooldownMs = Math.max(0, cooldown.untilMs - this.clock.now());
    const counts = await this.repository.begin(cooldown, cooldownMs);
    if (this.unwritten.get(subject) === cooldown) this.unwritten.delete(subject);
    if (counts) await this.publish({ state: 'begun', subject, id, reason, strikes, cooldownMs, probeMs: 0 });
  }

  private publish(change: CooldownChange): Promise<void> {
    return this.notifications.publish(TOPICS.rest, { ...change, from: this.self } satisfies CooldownMessage);
  }

  private write(work: () => Promise<void>): void {
    this.writing = this.writing
      .then(work)
      .catch((error: unknown) => this.logger.warn(`Failed to share a channel cooldown: ${reasonOf(error)}`));
  }
}
