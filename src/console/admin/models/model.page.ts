import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { CatalogInventory, type Inventory } from '../../../catalog/channels/index.js';
import {
  type GroupDefinition,
  type KnownModel,
  parseMultiplier,
  parsePricing,
  PriceHistory,
  type PricingDefinition,
  type RecordedPrices,
} from '../../../catalog/index.js';
import { dateTime, shortDay, times, zoneName } from '../../../platform/format/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { EFFORTS, NO_TOKENS, type TokenUsage } from '../../../protocols/contract/index.js';
import { costOf } from '../../../relay/billing/index.js';
import { type Difference, Page } from '../../web/index.js';
import { textOf, textsOf, type CatalogForm } from '../catalog-form.js';
import { listAddress } from '../list-address.js';
import { tierCount, tierField, TOKEN_FIELDS } from './model-fields.js';
import { marginView, modelAddress, switchAddress, withdrawAddress } from './model-list.view.js';
import { type KnownMargin, ModelMargins } from './model-margins.js';
import { changeText } from './price-items.js';

/** Content of the page besides the stored model. */
interface ModelPageOptions {
  readonly form: CatalogForm;
  /** Whether the form is as the model is stored. */
  readonly unchanged?: boolean;
  /** The entered prices, for the preview. */
  readonly after?: PricingDefinition | undefined;
  readonly differences?: readonly Difference[];
}

const CONFLICT = 409;

/** The page of a model: form, price preview, margins and price versions. */
@Injectable()
export class ModelPage {
  constructor(
    private readonly inventory: CatalogInventory,
    private readonly history: PriceHistory,
    private readonly margins: ModelMargins,
    private readonly clock: Clock,
  ) {}

  /** @param model undefined for a new model */
  async show(visitor: Visitor, model: KnownModel | undefined, shown: ModelPageOptions): Promise<Page> {
    const inventory = await this.inventory.all();
    const title = model?.name ?? 'Add model';
    return new Page('admin/model-edit', {
      title,
      ...(shown.differences && { status: CONFLICT }),
      data: {
        title,
        unchanged: shown.unchanged,
        crumbs: [{ href: '/admin/models', label: 'Models & prices' }, { label: title }],
        ...this.fields(visitor, shown, inventory),
        ...(model
          ? await this.known(model, shown, inventory, visitor.timeZone)
          : payView('', shown, inventory, undefined)),
      },
    });
  }

  private fields(visitor: Visitor, { form, differences }: ModelPageOptions, { groups }: Inventory) {
    const tiers = Array.from({ length: tierCount(form.values) }, (_, index) => tierView(index, form));
    return {
      form,
      differences,
      revision: form.values['revision'],
      base: tiers[0],
      tiers: tiers.slice(1),
      fees: feesView(form),
      efforts: EFFORTS.map((effort) => ({ name: `effort-${effort}`, label: effort })),
      groups: groups.map(({ name, enabled }) => ({ value: name, label: name, text: enabled ? '' : 'disabled' })),
      whens: [
        { value: 'now', label: 'Immediately' },
        { value: 'later', label: 'At a date and time' },
      ],
      zone: zoneName(this.clock.date(), visitor.timeZone),
    };
  }

  private async known(model: KnownModel, shown: ModelPageOptions, inventory: Inventory, timeZone: string) {
    const [versions, margins] = await Promise.all([this.history.of(model.name), this.margins.byChannel(model.name)]);
    return {
      model: {
        name: model.name,
        enabled: model.enabled,
        href: modelAddress(model.name),
        calls: listAddress('/admin/calls', { model: model.name }),
        switch: switchAddress(model.name),
        withdraw: withdrawAddress(model.name),
      },
      lede: ledeOf(model, inventory, timeZone),
      badge: model.enabled ? undefined : { tone: '', label: 'Disabled' },
      current: model.price,
      next: (versions[0]?.number ?? 0) + 1,
      ...payView(model.name, shown, inventory, versions.find(({ state }) => state === 'in-force')?.pricing),
      marginsTooSlow: margins === undefined,
      margins: margins && marginBars(margins),
      versions: versionRows(versions, modelAddress(model.name), timeZone),
    };
  }
}

/** User prices in the selected groups, now and with the entered prices. */
function payView(
  name: string,
  { form, after }: ModelPageOptions,
  inventory: Inventory,
  current: PricingDefinition | undefined,
) {
  const ticked = textsOf(form.values, 'groups');
  const groups = inventory.groups.filter((group) => ticked.includes(group.name));
  return {
    pays: payPreview(name, groups, current, after ?? current),
    changed: after !== undefined && JSON.stringify(after) !== JSON.stringify(current),
  };
}

/** `Anthropic · served by 2 channels · version 12 since 18 Nov 2026`. */
function ledeOf({ name, ownedBy, price }: KnownModel, { channels }: Inventory, timeZone: string): string {
  const serving = channels.filter(({ models }) => models.includes(name)).length;
  const served = serving === 0 ? 'no channel' : `served by ${serving} channel${serving === 1 ? '' : 's'}`;
  const version = price && `version ${price.number} since ${dateTime(price.validFrom, timeZone)}`;
  return [ownedBy, served, version ?? 'no current prices'].filter(Boolean).join(' · ');
}

/** Rare fields are expanded if one has a value or an error. */
function tierView(index: number, form: CatalogForm) {
  const fields = TOKEN_FIELDS.map((field) => ({ ...field, id: tierField(index, field.name) }));
  const rare = fields.filter(({ isRare }) => isRare);
  return {
    index,
    from: tierField(index, 'from'),
    usual: fields.filter(({ isRare }) => !isRare),
    rare,
    rareOpen: rare.some(({ id }) => (form.values[id] ?? '') !== '' || form.errors[id] !== undefined),
  };
}

/** Fields of the folded fees and multipliers. */
const FEE_FIELDS = [
  'requestFee',
  'serviceTiers',
  'toolFees',
  'speeds',
  'geos',
  'toolMaxUses',
  'imageGeneration',
  ...EFFORTS.map((effort) => `effort-${effort}`),
];

function feesView({ values, errors }: CatalogForm) {
  const set = FEE_FIELDS.filter((name) => textOf(values, name) !== '').length;
  return {
    isOpen: FEE_FIELDS.some((name) => errors[name] !== undefined),
    text: set === 0 ? 'None' : `${set} set`,
  };
}

/** Version list, newest first, with the changes from the previous version. */
const versionRows = (versions: readonly RecordedPrices[], address: string, timeZone: string) => {
  const isInForce = versions.some(({ state }) => state === 'in-force');
  return versions.map((version, index) => {
    const before = versions[index + 1];
    return {
      number: version.number,
      words: changeText(before?.pricing, version.pricing),
      at: version.createdAt ?? version.validFrom,
      validFrom: version.validFrom,
      time: version.validFrom.toISOString(),
      author: version.author,
      reason: version.reason,
      isInForce: version.state === 'in-force',
      isUpcoming: version.state === 'upcoming',
      isWithdrawn: version.state === 'withdrawn',
      from: `From ${shortDay(version.validFrom, timeZone)}`,
      // A model without current prices must keep its first ones.
      canWithdraw: version.state === 'upcoming' && isInForce,
      compare: before && `${address}?compare=${before.number}&with=${version.number}`,
    };
  });
};

const FULL = 100;

/** Margins per channel; bar widths are relative to the highest charge. */
function marginBars(margins: ReadonlyMap<string, KnownMargin>) {
  const most = [...margins.values()].reduce((sum, { charged }) => (charged > sum ? charged : sum), 1n);
  return [...margins].map(([channel, margin]) => ({
    channel,
    ...marginView(margin),
    width: Number((margin.charged * BigInt(FULL)) / most),
  }));
}

/** The sample call of price previews: 10,000 tokens in, 80% of them cached, and 1,000 out. */
const SAMPLE: TokenUsage = { ...NO_TOKENS, input: 10_000, cacheRead: 8_000, output: 1_000 };
const ONE = 1_000_000n;

/** Cost of the sample call in a group, in nano-dollars; undefined if unknown. */
interface GroupPays {
  readonly group: string;
  readonly multiplier: string;
  readonly now: bigint | undefined;
  readonly after: bigint | undefined;
}

/**
 * User prices in each enabled group.
 * @param now the current prices, if any
 * @param after the entered prices; undefined if invalid
 */
const payPreview = (
  model: string,
  groups: readonly GroupDefinition[],
  now: PricingDefinition | undefined,
  after: PricingDefinition | undefined,
): readonly GroupPays[] =>
  groups
    .filter(({ enabled }) => enabled)
    .map((group) => {
      const multiplier = multiplierIn(group, model);
      return {
        group: group.name,
        multiplier: times(multiplier),
        now: now && sampleCost(now, multiplier),
        after: after && sampleCost(after, multiplier),
      };
    });

/** In millionths. */
export const multiplierIn = (group: GroupDefinition, model: string): bigint =>
  parseMultiplier(group.models[model] ?? group.multiplier);

export const sampleCost = (pricing: PricingDefinition, groupMultiplier: bigint): bigint =>
  costOf({ pricing: parsePricing(pricing), serviceMultiplier: ONE, effortMultiplier: ONE, groupMultiplier }, SAMPLE);
