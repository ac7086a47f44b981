import { Controller, Get, Injectable } from '@nestjs/common';
import type { Visit, Visitor } from '../../auth/index.js';
import { Offer } from '../../catalog/index.js';
import { DatabaseHealth } from '../../platform/database/index.js';
import { clockTime, percent } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, monotonicMs } from '../../platform/shared/index.js';
import { RunState } from '../../relay/index.js';
import {
  type ModelOutcomes,
  type OutcomeCounts,
  RangeTooLarge,
  readModelOutcomes,
  TimeLimitedReads,
} from '../../usage/index.js';
import { Public } from '../access/index.js';
import { CurrentVisit, StepRequired, healthStrip, Page } from '../web/index.js';

/** Outcomes of calls by model and hour, as last counted. */
interface CountedResponses {
  readonly models: ReadonlyMap<string, ModelOutcomes>;
  /** Start of each hour in epoch milliseconds, oldest first; the last one is running. */
  readonly hours: readonly number[];
  readonly countedAt: Date;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;
const LIMIT_MS = 3000;
/** A count is cached for this long, or for a multiple of its duration if that is longer. */
const MIN_CACHED_MS = 15_000;
const CACHED_PER_DURATION = 20;

/** Caches the count: the page is public, so visits must not each query the database. At most one query runs at a time. */
@Injectable()
export class ResponseCounting {
  private last: CountedResponses | undefined;
  private cachedUntilMs = -Infinity;
  private counting: Promise<void> | undefined;

  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly clock: Clock,
  ) {}

  /** Undefined until a count has succeeded; stale if the latest timed out. */
  async current(): Promise<CountedResponses | undefined> {
    if (monotonicMs() >= this.cachedUntilMs)
      await (this.counting ??= this.count().finally(() => (this.counting = undefined)));
    return this.last;
  }

  private async count(): Promise<void> {
    const startedMs = monotonicMs();
    const countedAt = this.clock.date();
    const running = Math.floor(countedAt.getTime() / HOUR_MS) * HOUR_MS;
    const hours = Array.from({ length: HOURS }, (_, index) => running - (HOURS - 1 - index) * HOUR_MS);
    const span = { from: new Date(running - (HOURS - 1) * HOUR_MS), to: countedAt };
    try {
      const models = await this.reads.read((query) => readModelOutcomes(query, span), LIMIT_MS);
      this.last = { models: new Map(models.map((outcomes) => [outcomes.model, outcomes])), hours, countedAt };
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
    } finally {
      const tookMs = monotonicMs() - startedMs;
      this.cachedUntilMs = monotonicMs() + Math.max(MIN_CACHED_MS, CACHED_PER_DURATION * tookMs);
    }
  }
}

/** Service status and success rates of models. Public only if the settings say so. */
@Controller('status')
@Public()
export class StatusController {
  constructor(
    private readonly settings: Settings,
    private readonly offer: Offer,
    private readonly counting: ResponseCounting,
    private readonly database: DatabaseHealth,
    private readonly state: RunState,
  ) {}

  /** @throws StepRequired if the page requires signing in */
  @Get()
  async show(@CurrentVisit() { visitor }: Visit): Promise<Page> {
    if (!this.settings.current().site.statusIsPublic) {
      if (visitor === undefined) throw new StepRequired('/sign-in?next=%2Fstatus');
      if (!visitor.verified) throw new StepRequired('/verify');
    }
    const [counted, isReachable] = await Promise.all([this.counting.current(), this.database.ping()]);
    const data = statusView({
      models: this.modelsOf(visitor),
      counted,
      takesCalls: isReachable && !this.state.draining,
      timeZone: visitor?.timeZone ?? 'UTC',
    });
    const description = 'Success rate of each model in the last 24 hours.';
    return new Page('home/status', { title: 'Status', description, data });
  }

  private modelsOf(visitor: Visitor | undefined): readonly string[] {
    const names = this.offer
      .groupsFor(visitor)
      .flatMap((group) => this.offer.modelsOf(group.name).map(({ model }) => model.name));
    return [...new Set(names)].toSorted((one, other) => one.localeCompare(other));
  }
}

/** Success rate from which a model counts as operational: tolerates single failures among many calls. */
const OPERATIONAL = 0.995;
const MAJORITY = 0.5;

interface StatusInput {
  readonly models: readonly string[];
  readonly counted: CountedResponses | undefined;
  readonly takesCalls: boolean;
  readonly timeZone: string;
}

/** Shows rates only: call volumes are not public. */
function statusView({ models, counted, takesCalls, timeZone }: StatusInput) {
  const rows = counted === undefined ? [] : models.map((name) => rowOf(name, counted, timeZone));
  return {
    takesCalls,
    verdict: takesCalls ? verdictOf(rows) : 'The service is not accepting calls',
    tone: takesCalls ? toneOf(rows) : 'bad',
    countedAt: counted?.countedAt,
    hasModels: models.length > 0,
    isQuiet: rows.length > 0 && rows.every(({ share }) => share === undefined),
    rows: rows.map(({ share, ...row }) => ({ ...row, share: share === undefined ? undefined : percent(share, 1) })),
  };
}

function rowOf(name: string, { models, hours }: CountedResponses, timeZone: string) {
  const outcomes = models.get(name);
  const share = outcomes && shareOf(outcomes);
  return {
    name,
    share,
    badge: badgeOf(share),
    firstTokenMs: outcomes?.firstTokenMs,
    strip: healthStrip({
      name: `Success rate of ${name} by hour`,
      cellName: 'From',
      valueName: 'Success rate',
      cells: hours.map((start) => {
        const counts = outcomes?.hours.get(start / HOUR_MS);
        return { label: clockTime(new Date(start), timeZone, 'minutes'), share: counts && shareOf(counts) };
      }),
    }),
  };
}

function shareOf({ answered, failed }: OutcomeCounts): number | undefined {
  return answered + failed === 0 ? undefined : answered / (answered + failed);
}

function badgeOf(share: number | undefined): { readonly tone: string; readonly label: string } {
  if (share === undefined) return { tone: '', label: 'No calls' };
  if (share >= OPERATIONAL) return { tone: 'ok', label: 'Operational' };
  return share >= MAJORITY ? { tone: 'warn', label: 'Some calls fail' } : { tone: 'bad', label: 'Most calls fail' };
}

type Rows = readonly { readonly badge: { readonly tone: string }; readonly share: number | undefined }[];

const toneOf = (rows: Rows): string =>
  ['bad', 'warn'].find((tone) => rows.some(({ badge }) => badge.tone === tone)) ?? 'ok';

function verdictOf(rows: Rows): string {
  const failing = rows.filter(({ badge }) => badge.tone === 'bad' || badge.tone === 'warn').length;
  if (failing > 0)
    return `Calls of ${failing === 1 ? 'one model' : `${failing} models`} have failed in the last 24 hours`;
  return rows.some(({ share }) => share !== undefined) ? 'All models operational' : 'The service is operational';
}
