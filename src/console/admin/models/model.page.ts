import { Injectable } from '@nestjs/common';
import { EFFORTS } from '../../../protocols/contract/index.js';
import { type KnownModel, PriceHistory, type PricingDefinition } from '../../../catalog/index.js';
import { CatalogInventory, type Inventory } from '../../../catalog/channels/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { type Difference, Page } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { dateTime, zoneName } from '../../../platform/format/index.js';
import { textsOf, type TypedForm } from '../catalog-form.js';
import { listAddress } from '../list-address.js';
import { modelAddress, switchAddress, withdrawAddress } from './model-address.js';
import { tierCount, tierField, TOKEN_FIELDS } from './model-fields.js';
import { marginBars } from './margin-bars.js';
import { ModelMargins } from './model-margins.js';
import { payPreview } from './pay-preview.js';
import { versionRows } from './version-rows.js';

/** What the page shows besides the stored model. */
interface Shown {
  readonly form: TypedForm;
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
  async show(visitor: Visitor, model: KnownModel | undefined, shown: Shown): Promise<Page> {
    const inventory = await this.inventory.all();
    const title = model?.name ?? 'New model';
    return new Page('admin/model-edit', {
      title,
      ...(shown.differences && { status: CONFLICT }),
      data: {
        title,
        crumbs: [{ href: '/admin/models', label: 'Models & prices' }, { label: title }],
        ...this.fields(visitor, shown, inventory),
        ...(model
          ? await this.known(model, shown, inventory, visitor.timeZone)
          : payView('', shown, inventory, undefined)),
      },
    });
  }

  private fields(visitor: Visitor, { form, differences }: Shown, { groups }: Inventory) {
    const tiers = Array.from({ length: tierCount(form.values) }, (_, index) => tierView(index, form));
    return {
      form,
      differences,
      revision: form.values['revision'],
      base: tiers[0],
      tiers: tiers.slice(1),
      efforts: EFFORTS.map((effort) => ({ name: `effort-${effort}`, label: effort })),
      groups: groups.map(({ name, enabled }) => ({ value: name, label: name, text: enabled ? '' : 'disabled' })),
      whens: [
        { value: 'now', label: 'Immediately' },
        { value: 'later', label: 'At a date and time' },
      ],
      zone: zoneName(this.clock.date(), visitor.timeZone),
    };
  }

  private async known(model: KnownModel, shown: Shown, inventory: Inventory, timeZone: string) {
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

/** What users pay in the selected groups, now and with the entered prices. */
function payView(name: string, { form, after }: Shown, inventory: Inventory, current: PricingDefinition | undefined) {
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
function tierView(index: number, form: TypedForm) {
  const fields = TOKEN_FIELDS.map((field) => ({ ...field, id: tierField(index, field.name) }));
  const rare = fields.filter(({ isRare }) => isRare);
  return {
    index,
    from: tierField(index, 'from'),
    usual: fields.filter(({ isRare }) => !isRare),
    rare,
    rareOpen: rare.some(({ id }) => (form.values[id] ?? '') !== '' || form.faults[id] !== undefined),
  };
}
