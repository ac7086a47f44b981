import { Controller, Get, Injectable, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AccountService, SessionService, type Visitor } from '../../auth/index.js';
import { AlertPreferences } from '../../keys/alerts/index.js';
import { type OwnKey, OwnKeys, renderBudgets } from '../../keys/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { Clock, formatUsd, ZERO } from '../../platform/shared/index.js';
import { UsageExport } from '../../usage/index.js';
import { AllowanceService, WalletService } from '../../wallet/index.js';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, sendCsv, sendJson } from '../web/index.js';
import { SignInMethodViews } from './provider-sign-in.controller.js';

/** Before any call. */
const BEGINNING = new Date(0);

/** The profile and settings of an account, as JSON. */
@Injectable()
export class AccountFacts {
  constructor(
    private readonly accounts: AccountService,
    private readonly methods: SignInMethodViews,
    private readonly sessions: SessionService,
    private readonly alerts: AlertPreferences,
  ) {}

  async of({ accountId, timeZone, organizations }: Visitor): Promise<Readonly<Record<string, unknown>>> {
    const account = await this.accounts.byId(accountId);
    const { secondFactor: factor, passkeys, identities } = await this.methods.of(accountId);
    const { walletBelow, ...alerts } = await this.alerts.of(accountId);
    const sessions = await this.sessions.list(accountId);
    return {
      id: account.id,
      email: account.email,
      name: account.name,
      role: account.role,
      group: account.groupName ?? null,
      limits: renderLimits(account.limits),
      time_zone: timeZone,
      created_at: account.createdAt,
      verified_at: account.verifiedAt ?? null,
      two_factor: factor === undefined ? null : { since: factor.since, recovery_codes_left: factor.codesLeft },
      passkeys: passkeys.map(({ name, createdAt, lastUsedAt }) => ({
        name,
        created_at: createdAt,
        last_used_at: lastUsedAt,
      })),
      organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
      linked_sign_ins: identities.map(({ issuer, email, linkedAt, lastUsedAt }) => ({
        issuer,
        email,
        linked_at: linkedAt,
        last_used_at: lastUsedAt,
      })),
      alerts: {
        wallet_below_usd: formatUsd(walletBelow),
        quota_percent: alerts.quotaPercent,
        quota_used_up: alerts.quotaUsedUp,
        budget_percent: alerts.budgetPercent,
        budget_used_up: alerts.budgetUsedUp,
        expiry_days: alerts.expiryDays,
        new_network: alerts.newNetwork,
        unusual_volume: alerts.unusualVolume,
      },
      sessions: sessions.map(({ ip, userAgent, createdAt, lastSeenAt, expiresAt }) => ({
        ip,
        user_agent: userAgent,
        created_at: createdAt,
        last_seen_at: lastSeenAt,
        expires_at: expiresAt,
      })),
    };
  }
}

/** The data of an account that its CSV files do not have. Contains no secrets. */
@Injectable()
export class AccountExport {
  constructor(
    private readonly facts: AccountFacts,
    private readonly wallets: WalletService,
    private readonly allowances: AllowanceService,
    private readonly keys: OwnKeys,
    private readonly clock: Clock,
  ) {}

  /** Pieces of one JSON object. Keys, which can be many, are read page by page. */
  async *json(visitor: Visitor): AsyncGenerator<string, void, void> {
    const { accountId } = visitor;
    const { balance, held, owed } = await this.wallets.balanceOf(accountId);
    const allowance = (await this.allowances.amountsOf([accountId])).get(accountId) ?? ZERO;
    const head = {
      exported_at: this.clock.date(),
      account: await this.facts.of(visitor),
      wallet: {
        balance_usd: formatUsd(balance),
        held_usd: formatUsd(held),
        owed_usd: formatUsd(owed),
        monthly_allowance_usd: formatUsd(allowance),
      },
    };
    yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "keys": [`;
    let separator = '\n    ';
    for await (const key of this.allKeys(accountId)) {
      yield `${separator}${JSON.stringify(keyJson(key))}`;
      separator = ',\n    ';
    }
    yield '\n  ]\n}\n';
  }

  /** Newest first; deleted keys last. */
  private async *allKeys(accountId: string): AsyncGenerator<OwnKey, void, void> {
    for (const filter of [{}, { condition: 'deleted' }] as const) {
      let before: string | undefined;
      do {
        const page = await this.keys.page({ accountId }, filter, { before });
        yield* page.keys;
        before = page.older ? page.keys.at(-1)?.id : undefined;
      } while (before !== undefined);
    }
  }
}

const keyJson = (key: OwnKey) => ({
  id: key.id,
  name: key.name,
  state: key.state,
  hint: key.hint,
  group: key.group,
  models: key.models ?? null,
  quota_usd: key.quota === undefined ? null : formatUsd(key.quota),
  used_usd: formatUsd(key.used),
  held_usd: formatUsd(key.held),
  budgets: renderBudgets(key.budgets),
  limits: renderLimits(key.limits),
  networks: key.networks ?? [],
  strict: key.strict,
  never_stores: key.neverStores,
  created_at: key.createdAt,
  expires_at: key.expiresAt ?? null,
  last_used_at: key.lastUsedAt ?? null,
});

/** Downloads of one's own data; the wallet's files are on the wallet's pages. */
@Controller('account/data')
@SignedIn()
export class AccountDataController {
  constructor(
    private readonly account: AccountExport,
    private readonly calls: UsageExport,
    private readonly clock: Clock,
  ) {}

  @Get('account.json')
  json(@CurrentVisitor() visitor: Visitor, @Res() reply: FastifyReply): void {
    sendJson(reply, 'account', this.account.json(visitor));
  }

  /** All finished calls that are kept, oldest first. */
  @Get('calls.csv')
  csv(@CurrentVisitor() { accountId, isAdministrator }: Visitor, @Res() reply: FastifyReply): void {
    const selection = { accountId, from: BEGINNING, to: this.clock.date(), withChannels: isAdministrator };
    sendCsv(reply, 'calls', this.calls.csv(selection));
  }
}
