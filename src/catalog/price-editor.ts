import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { currentActor, nameOf } from '../platform/audit/index.js';
import { Clock, newId } from '../platform/shared/index.js';
import { CatalogRepository, type ChangeNote, type StoredModel } from './catalog.repository.js';
import { type Change, describeChanges, type ChangedItem } from './changes.js';
import { type ModelDefinition, priceFacts, type UpcomingPricing } from './definitions.js';
import { describePricing, parsePricing, type PricingDefinition } from './pricing.js';

/** Creates price versions and withdraws upcoming ones. */
@Injectable()
export class PriceEditor {
  constructor(
    private readonly repository: CatalogRepository,
    private readonly clock: Clock,
  ) {}

  /** Applies current and upcoming prices of a model. Returns one line per change. */
  async put(
    definition: ModelDefinition,
    stored: StoredModel | undefined,
    reason: string | undefined,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const actor = currentActor();
    const note = { author: actor && nameOf(actor), reason };
    const begun = begunBy(this.clock.date(), definition);
    const lines = await this.putFirst(begun, stored, note, manager);
    if (begun.upcoming === undefined) return lines;
    return [
      ...lines,
      ...(await this.putUpcoming(begun, begun.upcoming, stored, note, manager)),
      ...(await this.withdrawOthers(begun, begun.upcoming, stored, note, manager)),
    ];
  }

  private async putFirst(
    { name, pricing, validFrom }: ModelDefinition,
    stored: StoredModel | undefined,
    note: ChangeNote,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const subject: ChangedItem = { kind: 'model', name };
    const before = stored && pricesAt(stored, validFrom);
    const lines = describeChanges(subject, before ? priceFacts(before) : {}, priceFacts(pricing));
    if (lines.length > 0) await this.add(name, { pricing, validFrom }, note, manager);
    const isLater = validFrom !== undefined && validFrom > this.clock.date();
    return isLater ? lines.map((line) => later(line, validFrom)) : lines;
  }

  private async putUpcoming(
    { name, pricing }: ModelDefinition,
    upcoming: readonly UpcomingPricing[],
    stored: StoredModel | undefined,
    note: ChangeNote,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const subject: ChangedItem = { kind: 'model', name };
    const changes: Change[] = [];
    let previous = pricing;
    for (const next of upcoming) {
      const known = stored && upcomingAt(stored, next.validFrom);
      const lines = describeChanges(subject, priceFacts(known?.pricing ?? previous), priceFacts(next.pricing));
      // A new version equal to its predecessor still ends what was set before.
      const reported = lines.length > 0 || known ? lines : [{ subject, text: `prices stay ${textOf(next.pricing)}` }];
      if (reported.length > 0) await this.add(name, next, note, manager);
      changes.push(...reported.map((change) => later(change, next.validFrom)));
      previous = next.pricing;
    }
    return changes;
  }

  private async withdrawOthers(
    { name, validFrom }: ModelDefinition,
    upcoming: readonly UpcomingPricing[],
    stored: StoredModel | undefined,
    note: ChangeNote,
    manager: EntityManager,
  ): Promise<readonly Change[]> {
    const kept = new Set([validFrom, ...upcoming.map((one) => one.validFrom)].map((time) => time?.getTime()));
    const others = stored?.upcoming.filter((one) => !kept.has(one.validFrom.getTime())) ?? [];
    for (const { id } of others) await this.repository.withdrawPriceVersion(id, note, manager);
    return others.map((one) =>
      later({ subject: { kind: 'model', name }, text: `prices ${textOf(one.pricing)} withdrawn` }, one.validFrom),
    );
  }

  private async add(
    model: string,
    prices: Pick<ModelDefinition, 'pricing' | 'validFrom'>,
    note: ChangeNote,
    manager: EntityManager,
  ): Promise<void> {
    const id = newId('prc', this.clock.now());
    await this.repository.addPriceVersion({ id, model, ...prices, ...note }, manager);
  }
}

/** For a file older than some announced prices: the last ones that have begun are current. */
function begunBy(now: Date, definition: ModelDefinition): ModelDefinition {
  const begun = definition.upcoming?.findLast(({ validFrom }) => validFrom <= now);
  if (begun === undefined) return definition;
  const upcoming = definition.upcoming?.filter(({ validFrom }) => validFrom > now);
  return { ...definition, pricing: begun.pricing, validFrom: undefined, upcoming };
}

/** A model's prices at a time (now if past), as far as known. */
function pricesAt({ price, upcoming }: StoredModel, time: Date | undefined): PricingDefinition | undefined {
  const begun = time === undefined ? undefined : upcoming.findLast(({ validFrom }) => validFrom <= time);
  return (begun ?? price)?.pricing;
}

const upcomingAt = ({ upcoming }: StoredModel, time: Date) =>
  upcoming.findLast(({ validFrom }) => validFrom.getTime() === time.getTime());

const textOf = (pricing: PricingDefinition): string => describePricing(parsePricing(pricing));

/** A change that takes effect later. */
const later = ({ subject, text }: Change, time: Date): Change => ({
  subject,
  text: `${text} from ${time.toISOString()}`,
});

/** A version of a model's prices. */
export interface RecordedPrices {
  readonly id: string;
  /** Counted from 1 per model, in order of creation. */
  readonly number: number;
  readonly validFrom: Date;
  readonly pricing: PricingDefinition;
  /** Author, time and reason; null if unknown. */
  readonly author: string | null;
  readonly reason: string | null;
  readonly createdAt: Date | null;
  /** State at the time of the query. */
  readonly state: 'in-force' | 'upcoming' | 'past' | 'withdrawn';
}

/** The price history of models. */
@Injectable()
export class PriceHistory {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first; empty for unknown models. */
  of(model: string): Promise<readonly RecordedPrices[]> {
    return this.dataSource.query<RecordedPrices[]>(
      `WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now), versions AS (
         SELECT p.*, w.version_id IS NOT NULL AS withdrawn
           FROM price_versions p LEFT JOIN price_withdrawals w ON w.version_id = p.id WHERE p.model = $1
       ), replaced AS (
         -- Of two that begin at once the last counts.
         SELECT id FROM versions v WHERE EXISTS (
           SELECT FROM versions o WHERE o.valid_from = v.valid_from AND o.number > v.number AND NOT o.withdrawn)
       ), current AS (
         SELECT id FROM versions, moment WHERE valid_from <= now AND NOT withdrawn
          ORDER BY valid_from DESC, number DESC LIMIT 1
       )
       SELECT id, number, valid_from AS "validFrom", pricing, author, reason, created_at AS "createdAt",
              CASE WHEN withdrawn THEN 'withdrawn'
                   WHEN id IN (SELECT id FROM current) THEN 'in-force'
                   WHEN valid_from > now AND id NOT IN (SELECT id FROM replaced) THEN 'upcoming'
                   ELSE 'past' END AS state
         FROM versions, moment ORDER BY number DESC`,
      [model],
    );
  }
}
