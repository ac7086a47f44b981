import { Injectable } from '@nestjs/common';
import { allows, type Owner, viewedCalls, viewedKeys, type Visitor } from '../../../auth/index.js';
import { groupOfViewer, Offer } from '../../../catalog/index.js';
import { type KeyCondition, KeyHolders, KeyNotices, type OwnKey, OwnKeys } from '../../../keys/index.js';
import { times } from '../../../platform/format/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { WalletOutlook } from '../../../wallet/index.js';
import { type UsageOverview, UsageOverviewReader } from '../../usage/index.js';
import { Page } from '../../web/index.js';
import { dashboardView, RANGES } from './dashboard.view.js';

const CONDITIONS: readonly KeyCondition[] = ['used-up', 'near-quota', 'expires-soon'];
const DEFAULT_DAYS = 14;

@Injectable()
export class DashboardPage {
  constructor(
    private readonly usage: UsageOverviewReader,
    private readonly wallets: WalletOutlook,
    private readonly keys: OwnKeys,
    private readonly notices: KeyNotices,
    private readonly offer: Offer,
    private readonly holders: KeyHolders,
  ) {}

  /** @param days from the query @param base public URL */
  async show(visitor: Visitor, days: unknown, base: string, now: Date): Promise<Page> {
    const { scopeId, timeZone, organization } = visitor;
    const owner = viewedKeys(visitor);
    const seesBalance = allows(organization, 'view wallet');
    const shownDays = RANGES.find((range) => String(range) === days) ?? DEFAULT_DAYS;
    const [{ wallet, pace, allowance, everFunded, payable }, keys, notices, usage, budget] = await Promise.all([
      this.wallets.of(scopeId, now),
      this.keysOf(visitor, owner),
      seesKeys(visitor) ? this.notices.open(owner) : [],
      this.readUsage({ owner: viewedCalls(visitor), timeZone, days: shownDays, now }),
      organization && !seesBalance ? this.holders.leftOf(organization) : undefined,
    ]);
    const data = dashboardView({
      now,
      timeZone,
      wallet: seesBalance ? wallet : undefined,
      budget,
      pace: seesBalance ? pace : undefined,
      allowance: seesBalance ? allowance : undefined,
      keys: keys.limited,
      notices,
      usage,
      done: { funds: everFunded, key: keys.any, call: usage?.everUsed ?? true },
      payable,
      mayUseKeys: allows(organization, 'use keys'),
      mayPay: allows(organization, 'manage wallet'),
      isAdmin: visitor.isAdministrator && organization === undefined,
      days: shownDays,
      base,
      ...this.offered(visitor),
    });
    return new Page('home/dashboard', { title: 'Home', data });
  }

  private offered(visitor: Visitor) {
    const name = groupOfViewer(visitor);
    const group = this.offer.groupsFor(visitor).find((one) => one.name === name);
    const models = this.offer.modelsOf(name).map(({ model, ...support }) => ({ name: model.name, ...support }));
    return { group: group && { name, multiplier: times(group.multiplier) }, models };
  }

  private async keysOf(visitor: Visitor, owner: Owner): Promise<{ limited: readonly OwnKey[]; any: boolean }> {
    if (!seesKeys(visitor)) return { limited: [], any: true };
    const [all, ...pages] = await Promise.all([
      this.keys.page(owner, {}),
      ...CONDITIONS.map((condition) => this.keys.page(owner, { condition })),
    ]);
    const limited = new Map(pages.flatMap(({ keys }) => keys.map((key) => [key.id, key] as const)));
    return { limited: [...limited.values()], any: all.keys.length > 0 };
  }

  /** Undefined if the query timed out. */
  private async readUsage(request: Parameters<UsageOverviewReader['read']>[0]): Promise<UsageOverview | undefined> {
    try {
      return await this.usage.read(request);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'timeout') return undefined;
      throw error;
    }
  }
}

const seesKeys = ({ organization }: Visitor): boolean =>
  allows(organization, 'use keys') || allows(organization, 'view all keys');
