import { Injectable } from '@nestjs/common';
import {
  type AccountRole,
  AccountService,
  type AccountState,
  InvalidAccount,
  SessionService,
} from '../../../auth/index.js';
import { CatalogEditor, DEFAULT_GROUP } from '../../../catalog/index.js';
import { OwnKeys } from '../../../keys/index.js';
import { changedLimits, NO_LIMITS } from '../../../platform/limits/index.js';
import { TimeLimitedReads } from '../../../usage/index.js';
import { type PaymentOfMovement, type TopUp, type TopUpPosition, WalletStatement } from '../../../wallet/index.js';
import { sessionViews } from '../../account/index.js';
import { badgeOf as keyBadgeOf, limitsOf } from '../../keys/index.js';
import { exactAmount, MOVEMENT_LABELS, paymentLabels } from '../../wallet/index.js';
import { countOf, Cursors } from '../../web/index.js';
import { accountPath, listAddress, type ListQuery } from '../list-address.js';
import type { ListedUser } from './user-directory.js';
import type { SettingsForm } from './user-forms.js';

const PAGE_MOVEMENTS = 20;

/** Lists on a user's page: API keys, sessions and ledger. */
@Injectable()
export class UserFacts {
  constructor(
    private readonly keys: OwnKeys,
    private readonly sessions: SessionService,
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly accounts: AccountService,
  ) {}

  /** Newest first. @param before only keys older than this one; undefined: from the newest */
  async keysOf(accountId: string, before: string | undefined) {
    const { keys, older } = await this.keys.page({ accountId }, {}, { before });
    const rows = keys.map((key) => ({
      id: key.id,
      name: key.name,
      hint: key.hint,
      isTokenKey: key.isTokenKey,
      group: key.group,
      used: key.used,
      limits: limitsOf(key),
      lastUsedAt: key.lastUsedAt,
      badge: keyBadgeOf(key),
      enabled: key.state === 'enabled',
      hasQuota: key.quota !== undefined,
    }));
    return { keys: rows, older: older ? keys.at(-1)?.id : undefined };
  }

  /** @param currentId the session of the request */
  async sessionsOf(accountId: string, currentId: string) {
    return sessionViews(await this.sessions.list(accountId), currentId);
  }

  /** Ledger entries other than calls, newest first. */
  async ledgerOf(accountId: string, before: TopUpPosition | undefined) {
    const { topUps, older } = await this.reads.read((query) =>
      this.statement.topUps(query, accountId, before, PAGE_MOVEMENTS),
    );
    return { movements: topUps.map(movementRow), older };
  }

  account(id: string) {
    return this.accounts.byId(id);
  }
}

const movementRow = ({ id, at, kind, reason, amount, balanceAfter, payment }: TopUp) => ({
  id,
  at,
  source: MOVEMENT_LABELS[kind].source,
  // The source column already says that it is a redemption code.
  reason: reason.replace(/^Redemption code /, ''),
  /** Of a payment: its status, and its reference at Stripe or else its own ID, if that is not shown anyway. */
  provider: payment?.isOrder ? { id: providerId(id, payment), words: paymentLabels(payment) } : undefined,
  amount: exactAmount(amount, true),
  after: exactAmount(balanceAfter),
});

function providerId(shown: string, { reference, id }: PaymentOfMovement): string | undefined {
  const own = reference ?? id;
  return own === shown ? undefined : own;
}

interface Badge {
  readonly tone: 'ok' | 'warn' | 'bad' | '';
  readonly label: string;
}

const STATES: Readonly<Record<AccountState, Badge>> = {
  enabled: { tone: 'ok', label: 'Enabled' },
  disabled: { tone: 'bad', label: 'Suspended' },
  deleted: { tone: '', label: 'Deleted' },
};

export const ROLES: Readonly<Record<AccountRole, string>> = { user: 'User', admin: 'Administrator' };

export const STATE_FILTERS: readonly (readonly [string, string])[] = [
  ['', 'All except deleted'],
  ...Object.entries(STATES).map(([state, { label }]) => [state, label] as const),
];

export const ROLE_FILTERS: readonly (readonly [string, string])[] = [['', 'Any role'], ...Object.entries(ROLES)];

/** Verification matters only while the account is enabled. */
export function badgeOf({ state, verified, invited }: Pick<ListedUser, 'state' | 'verified' | 'invited'>): Badge {
  if (state !== 'enabled' || verified) return STATES[state];
  return invited ? { tone: '', label: 'Invited' } : { tone: 'warn', label: 'Not verified' };
}

/** Display name of a user or an organization; deleted ones have none. */
export function userTitle({ kind, state, email, name }: Pick<ListedUser, 'kind' | 'state' | 'email' | 'name'>): string {
  if (kind === 'organization') return state === 'deleted' ? 'Deleted organization' : name;
  return state === 'deleted' ? 'Deleted user' : email;
}

/** How pages of money and keys name the account. */
export const accountView = (user: ListedUser) => ({ id: user.id, title: userTitle(user), path: accountPath(user.id) });

/** Breadcrumbs of the pages of a user or an organization. */
export const userCrumbs = (user: ListedUser, last?: string) => [
  user.kind === 'organization'
    ? { href: '/admin/organizations', label: 'Organizations' }
    : { href: '/admin/users', label: 'Users' },
  ...(last === undefined
    ? [{ label: userTitle(user) }]
    : [{ href: accountPath(user.id), label: userTitle(user) }, { label: last }]),
];

/** Group and limits of a user or an organization. */
@Injectable()
export class UserChoices {
  constructor(
    private readonly accounts: AccountService,
    private readonly catalog: CatalogEditor,
  ) {}

  /** Names of all groups, `default` first. */
  async groups(): Promise<readonly string[]> {
    const { groups } = await this.accounts.within((manager) => this.catalog.names(manager));
    return [DEFAULT_GROUP, ...[...groups].filter((name) => name !== DEFAULT_GROUP).toSorted()];
  }

  /** The group name as an account stores it; undefined for `default`. @throws InvalidAccount */
  async groupName(chosen: string): Promise<string | undefined> {
    if (!(await this.groups()).includes(chosen)) throw new InvalidAccount('group', 'Choose a group from the list.');
    return chosen === DEFAULT_GROUP ? undefined : chosen;
  }

  /** @throws AccountChangedMeanwhile, AccountGone, InvalidAccount */
  async setTerms(id: string, form: SettingsForm): Promise<true> {
    const groupName = await this.groupName(form.group);
    const limits = changedLimits(NO_LIMITS, {
      requestsPerMinute: countOf(form.callsPerMinute),
      tokensPerMinute: countOf(form.tokensPerMinute),
      concurrency: countOf(form.concurrency),
    });
    await this.accounts.setTerms(id, form.revision, { groupName, limits });
    return true;
  }
}

export const groupOptions = (groups: readonly string[]) => groups.map((name) => ({ value: name, label: name }));

const KEYS = 'user-keys';
const LEDGER = 'user-ledger';

/** Start of a list on the page. */
interface Start {
  /** The opened cursor; undefined: start with the newest. */
  readonly place: Readonly<Record<string, string>> | undefined;
  /** Whether the query string has an invalid cursor. */
  readonly lost: boolean;
}

/** URLs; undefined if there is no such page. */
interface Turns {
  readonly newest: string | undefined;
  readonly older: string | undefined;
}

/** The paginated lists on a user's page. */
@Injectable()
export class UserLists {
  constructor(
    private readonly facts: UserFacts,
    private readonly cursors: Cursors,
  ) {}

  async keys(userId: string, query: ListQuery) {
    const { place, lost } = this.startOf(KEYS, query['keys']);
    const { keys, older } = await this.facts.keysOf(userId, place?.['id']);
    const next = older && this.cursors.seal(KEYS, { id: older });
    return { keys, lost, turns: turnsOf(userId, 'keys', place, next) };
  }

  async ledger(userId: string, query: ListQuery) {
    const { place, lost } = this.startOf(LEDGER, query['ledger']);
    const before = place && ([place['at'] ?? '', place['id'] ?? ''] as const);
    const { movements, older } = await this.facts.ledgerOf(userId, before);
    const next = older && this.cursors.seal(LEDGER, { at: older[0], id: older[1] });
    return { movements, lost, turns: turnsOf(userId, 'ledger', place, next) };
  }

  private startOf(list: string, sealed: ListQuery[string]): Start {
    const place = typeof sealed === 'string' ? this.cursors.open(list, sealed) : undefined;
    return { place, lost: sealed !== undefined && place === undefined };
  }
}

/** Undefined if the list fits on one page. */
function turnsOf(userId: string, list: string, place: Start['place'], next: string | undefined): Turns | undefined {
  if (place === undefined && next === undefined) return undefined;
  const there = accountPath(userId);
  return {
    newest: place && `${there}#${list}`,
    older: next && `${listAddress(there, { [list]: next })}#${list}`,
  };
}
