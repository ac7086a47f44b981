import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { actingAs, AuditLog, SYSTEM } from '../../platform/audit/index.js';
import { Notifications, TOPICS } from '../../platform/database/index.js';
import { AccountGone, accountObject, type AssignmentSource, ROLE_LABELS } from '../account.js';
import { type AccountEntity, AccountRepository } from '../account.repository.js';
import type { SignInProvider } from './sign-in-providers.js';

/** Role and group by the claims of a provider. Undefined: the claims do not say, and it stays as it is. */
export interface MappedAccount {
  readonly isAdministrator: boolean | undefined;
  /** Null: none is assigned. */
  readonly group: string | null | undefined;
}

type Change = Partial<Pick<AccountEntity, 'role' | 'roleSource' | 'groupName' | 'groupSource'>>;

/** The source of assignments by the claims of a provider. */
export const sourceOf = ({ name }: Pick<SignInProvider, 'name'>): AssignmentSource => `provider:${name}`;

/** Whether a provider may assign: nobody else has, and a provider withdraws only what it has assigned itself. */
const mayChange = (current: AssignmentSource | null, source: AssignmentSource, isAssigned: boolean): boolean =>
  isAssigned ? current !== 'manual' : current === source;

/**
 * Applies roles and groups that claims assign, and withdraws those that they no longer do. Manual assignments stay, and
 * so does the last administrator.
 */
@Injectable()
export class AccountMapping {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly accounts: AccountRepository,
    private readonly notifications: Notifications,
    private readonly audit: AuditLog,
  ) {}

  /** Takes effect with the next request, in all processes. @throws AccountGone */
  async apply(accountId: string, provider: SignInProvider, mapped: MappedAccount): Promise<void> {
    const known = await this.accounts.byId(accountId);
    if (known !== null && Object.keys(changeOf(known, sourceOf(provider), mapped)).length === 0) return;
    await actingAs(SYSTEM, () =>
      this.accounts.transaction((manager) => this.change(accountId, provider, mapped, manager)),
    );
  }

  /** Administrators are locked first and in a fixed order, to avoid deadlocks. */
  private async change(
    accountId: string,
    provider: SignInProvider,
    mapped: MappedAccount,
    manager: EntityManager,
  ): Promise<void> {
    const administrators = await this.accounts.lockAdministrators(manager);
    const account = await this.accounts.lock(accountId, manager);
    if (account === null || account.state === 'deleted') throw new AccountGone();
    const { role, roleSource, ...group } = changeOf(account, sourceOf(provider), mapped);
    const isLast = role === 'user' && administrators.every((id) => id === accountId);
    if (isLast)
      this.logger.warn(
        `The claims of ${provider.name} no longer make ${accountId} an administrator, but it is the last`,
      );
    const change = { ...group, ...(!isLast && role !== undefined && { role, roleSource }) };
    if (Object.keys(change).length === 0) return;
    await this.accounts.update(accountId, change, manager);
    await this.notifications.publish(TOPICS.account, { id: accountId }, manager);
    const reason = `claims of ${provider.label}`;
    await this.audit.record(
      { action: 'changed', object: accountObject(account), lines: linesOf(account, change), reason },
      manager,
    );
  }
}

function changeOf(account: AccountEntity, source: AssignmentSource, { isAdministrator, group }: MappedAccount): Change {
  return { ...roleChange(account, source, isAdministrator), ...groupChange(account, source, group) };
}

function roleChange(account: AccountEntity, source: AssignmentSource, isAdministrator: boolean | undefined): Change {
  if (isAdministrator === undefined || !mayChange(account.roleSource, source, isAdministrator)) return {};
  const role = isAdministrator ? 'admin' : 'user';
  return role === account.role ? {} : { role, roleSource: isAdministrator ? source : null };
}

function groupChange(account: AccountEntity, source: AssignmentSource, group: string | null | undefined): Change {
  if (group === undefined || !mayChange(account.groupSource, source, group !== null)) return {};
  return group === account.groupName ? {} : { groupName: group, groupSource: group === null ? null : source };
}

const linesOf = (before: AccountEntity, { role, groupName }: Change): readonly string[] => [
  ...(role === undefined ? [] : [`role ${ROLE_LABELS[before.role]} → ${ROLE_LABELS[role]}`]),
  ...(groupName === undefined ? [] : [`group ${before.groupName ?? 'default'} → ${groupName ?? 'default'}`]),
];
