/** Roles of members; one member is the owner. */
export const ORGANIZATION_ROLES = ['owner', 'admin', 'billing', 'member', 'viewer'] as const;
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

/** What a role allows in an organization. In their own account, users may do everything that these name. */
export type Permission =
  /** Members, teams, and spending of everyone. */
  | 'view organization'
  /** Members, invitations, teams, settings. */
  | 'manage organization'
  /** Transfer and delete. */
  | 'own organization'
  | 'view wallet'
  | 'manage wallet'
  /** Calls of all keys; without it, those of own keys. */
  | 'view all usage'
  /** Keys of all members, and service keys, without changing them. */
  | 'view all keys'
  /** Create, change and use own keys. */
  | 'use keys'
  /** Keys of all members, and service keys. */
  | 'manage all keys';

const READER: readonly Permission[] = ['view organization', 'view wallet', 'view all usage'];
const VIEWER: readonly Permission[] = [...READER, 'view all keys'];
const ADMIN: readonly Permission[] = [...VIEWER, 'manage organization', 'manage wallet', 'use keys', 'manage all keys'];

const PERMISSIONS: Readonly<Record<OrganizationRole, ReadonlySet<Permission>>> = {
  owner: new Set<Permission>([...ADMIN, 'own organization']),
  admin: new Set(ADMIN),
  billing: new Set<Permission>([...READER, 'manage wallet']),
  member: new Set<Permission>(['use keys']),
  viewer: new Set(VIEWER),
};

/** The organization that a user works in, read with each request. */
export interface OrganizationScope {
  /** Also the ID of the account with the wallet, keys and calls. */
  readonly id: string;
  readonly name: string;
  readonly memberId: string;
  readonly role: OrganizationRole;
  readonly teamId: string | undefined;
}

/** Whether a user may do something in their scope. Undefined: their own account. */
export const allows = (organization: Pick<OrganizationScope, 'role'> | undefined, permission: Permission): boolean =>
  organization === undefined || PERMISSIONS[organization.role].has(permission);

/** What belongs to an account; in an organization, possibly only what belongs to one member. */
export interface Owner {
  readonly accountId: string;
  readonly memberId?: string | undefined;
}

/** The scope of a visitor. */
interface Scope {
  readonly scopeId: string;
  readonly organization: OrganizationScope | undefined;
}

/** Everything in the scope if the role allows it, else what belongs to the user. */
const partOf = (scope: Scope, everything: Permission): Owner =>
  allows(scope.organization, everything) ? { accountId: scope.scopeId } : ownIn(scope);

/** What belongs to the user in their scope, whatever else they may see. */
export const ownIn = ({ scopeId, organization }: Scope): Owner => ({
  accountId: scopeId,
  memberId: organization?.memberId,
});

export const viewedCalls = (scope: Scope): Owner => partOf(scope, 'view all usage');
export const viewedKeys = (scope: Scope): Owner => partOf(scope, 'view all keys');
export const changedKeys = (scope: Scope): Owner => partOf(scope, 'manage all keys');
