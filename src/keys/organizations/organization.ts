import type { OrganizationRole } from '../../auth/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { BudgetLimits, MemberBudgets } from '../index.js';

/** Of organizations and teams. White space around a name is removed. */
export const ORGANIZATION_NAME = /^\s*[^\p{Cc}]{0,99}[^\p{Cc}\s]\s*$/u;
/** Max keys of a member, as a number that can be set. */
export const MAX_MEMBER_KEYS = 1_000_000;

/** What new members get. */
export interface MemberDefaults {
  readonly budgets: BudgetLimits;
  /** Undefined: unlimited. */
  readonly maxKeys: number | undefined;
}

/** An offer of the ownership. */
export interface OwnershipOffer {
  readonly memberId: string;
  readonly email: string;
  readonly at: Date;
}

export interface Organization {
  /** Also the ID of its account. */
  readonly id: string;
  readonly name: string;
  readonly defaults: MemberDefaults;
  readonly offer: OwnershipOffer | undefined;
  readonly createdAt: Date;
}

/** An organization of a user. */
export interface OwnOrganization {
  readonly id: string;
  readonly name: string;
  readonly role: OrganizationRole;
  readonly members: number;
  readonly joinedAt: Date;
  /** The ownership is offered to this user. */
  readonly isOffered: boolean;
}

/** Someone who works in an organization. */
export interface Member {
  readonly id: string;
  readonly organizationId: string;
  readonly accountId: string;
  readonly email: string;
  /** May be empty. */
  readonly name: string;
  /** Their account is suspended. */
  readonly isSuspended: boolean;
  readonly role: OrganizationRole;
  readonly team: { readonly id: string; readonly name: string } | undefined;
  readonly budgets: MemberBudgets;
  /** Undefined: unlimited. */
  readonly maxKeys: number | undefined;
  /** Not deleted. */
  readonly keys: number;
  /** Incremented by changes of budgets and of `maxKeys`. */
  readonly version: number;
  readonly joinedAt: Date;
}

/** What a team's members may use; undefined: everything. It narrows what their keys may do, and never widens it. */
export interface TeamLimits {
  readonly models: readonly string[] | undefined;
  readonly groups: readonly string[] | undefined;
  readonly networks: readonly string[] | undefined;
}

export interface Team extends TeamLimits {
  readonly id: string;
  readonly name: string;
  readonly budgets: MemberBudgets;
  readonly members: number;
  readonly keys: number;
  readonly version: number;
}

class InvalidName extends AppError {
  constructor(what: 'organization' | 'team') {
    super('invalid_request', `Enter a name for the ${what}: 1 to 100 characters without line breaks.`, {
      param: 'name',
    });
  }
}

export class MemberNotFound extends AppError {
  constructor() {
    super('not_found', 'There is no such member in this organization.');
  }
}

export class TeamNotFound extends AppError {
  constructor() {
    super('not_found', 'There is no such team in this organization.', { param: 'team' });
  }
}

/** The present role of the acting member does not allow it. */
export class NotPermitted extends AppError {
  constructor(message = 'Your role in this organization does not allow this. Ask its owner or an admin.') {
    super('permission_denied', message);
  }
}

/** The owner can leave or lose the role only by handing over the ownership. */
export class OwnerStays extends AppError {
  constructor() {
    super('conflict', 'The owner cannot leave, be removed or get another role. Transfer the ownership first.', {
      param: 'role',
    });
  }
}

export class CreationRestricted extends AppError {
  constructor() {
    super('permission_denied', 'Organizations are created by administrators. Ask one of them.');
  }
}

/** Changed since it was read. */
export class MemberChangedMeanwhile extends AppError {
  constructor(what: 'member' | 'team') {
    super('conflict', `This ${what} was changed while you edited it. Review the current values and save again.`);
  }
}

export class TeamNameTaken extends AppError {
  constructor(name: string) {
    super('invalid_request', `Enter another name: there is a team “${name}” already.`, { param: 'name' });
  }
}

export class TooManyTeams extends AppError {
  constructor(max: number) {
    super('invalid_request', `There can be ${max} teams in an organization. Delete one first.`, { param: 'name' });
  }
}

/** The offer was accepted or withdrawn, or the member it was made to left. */
export class NoOffer extends AppError {
  constructor() {
    super('conflict', 'The ownership is not offered to you any more.');
  }
}

class MaxKeysNotPossible extends AppError {
  constructor() {
    super(
      'invalid_request',
      `Enter a number of keys from 0 to ${MAX_MEMBER_KEYS.toLocaleString('en-US')}, or leave empty for no limit.`,
      { param: 'maxKeys' },
    );
  }
}

/** @throws InvalidName */
export function possibleName(what: 'organization' | 'team', name: string): string {
  if (!ORGANIZATION_NAME.test(name)) throw new InvalidName(what);
  return name.trim();
}

/** @throws MaxKeysNotPossible */
export function possibleMaxKeys(maxKeys: number | undefined): number | null {
  if (maxKeys === undefined) return null;
  if (!Number.isInteger(maxKeys) || maxKeys < 0 || maxKeys > MAX_MEMBER_KEYS) throw new MaxKeysNotPossible();
  return maxKeys;
}

/** Columns of limits, as members, teams and defaults store them. */
export interface LimitRow {
  readonly quota: string | null;
  readonly dailyBudget: string | null;
  readonly weeklyBudget: string | null;
  readonly monthlyBudget: string | null;
}

export const LIMIT_COLUMNS = (table: string): string => `
  ${table}.quota, ${table}.daily_budget AS "dailyBudget", ${table}.weekly_budget AS "weeklyBudget",
  ${table}.monthly_budget AS "monthlyBudget"`;
