import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../../platform/audit/index.js';
import { Notifications, ReconnectingCopy, TOPICS } from '../../platform/database/index.js';
import { Clock, newId } from '../../platform/shared/index.js';
import {
  checkIdentity,
  checkSettings,
  identityFacts,
  InvalidTokenIssuer,
  type NewTokenIssuer,
  settingFacts,
  type TokenIssuer,
  TokenIssuerChangedMeanwhile,
  TokenIssuerNotFound,
  type TokenIssuerSettings,
} from './token-issuer.js';

type NullableColumn = 'jwksUri' | 'matchedBy' | 'organizationId' | 'teamId';

type IssuerRow = Omit<TokenIssuer, NullableColumn> & {
  readonly [K in NullableColumn]: Exclude<TokenIssuer[K], undefined> | null;
};

const SELECT = `
  SELECT id, name, issuer, jwks_uri AS "jwksUri", audience, algorithms, required_claims AS "requiredClaims",
         max_lifetime_hours AS "maxLifetimeHours", holder, matched_by AS "matchedBy", claim,
         organization_id AS "organizationId", team_id AS "teamId", revision
    FROM token_issuers`;
const LIST = `${SELECT} ORDER BY id`;
const FIND = `${SELECT} WHERE id = $1`;
const INSERT = `
  INSERT INTO token_issuers (id, name, issuer, jwks_uri, audience, algorithms, required_claims, max_lifetime_hours,
         holder, matched_by, claim, organization_id, team_id, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  ON CONFLICT (issuer, audience) DO NOTHING RETURNING id`;
const UPDATE = `
  UPDATE token_issuers SET name = $2, jwks_uri = $3, algorithms = $4, required_claims = $5, max_lifetime_hours = $6,
         revision = revision + 1 WHERE id = $1`;
const ORGANIZATIONS = `
  SELECT o.id AS "organizationId", a.name AS organization, t.id AS "teamId", t.name AS team
    FROM organizations o JOIN accounts a ON a.id = o.id AND a.state <> 'deleted'
    LEFT JOIN LATERAL (SELECT NULL AS id, NULL AS name UNION ALL
                       SELECT id, name FROM teams WHERE organization_id = o.id AND state = 'enabled') t ON true
   ORDER BY a.name, o.id, t.name NULLS FIRST`;

const HAS_ORGANIZATION = `
  SELECT FROM organizations o JOIN accounts a ON a.id = o.id AND a.state <> 'deleted'
   WHERE o.id = $1 AND ($2::text IS NULL OR EXISTS (
           SELECT FROM teams WHERE organization_id = o.id AND id = $2 AND state = 'enabled'))`;

/** An organization, or a team of one. */
export interface OrganizationChoice {
  readonly organizationId: string;
  readonly organization: string;
  /** Null: the organization itself. */
  readonly teamId: string | null;
  readonly team: string | null;
}

/** The issuers that administrators have set up, in memory. */
@Injectable()
export class TokenIssuers implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('TokenIssuers');
  private readonly copy: ReconnectingCopy<readonly TokenIssuer[]>;
  private issuers: ReadonlyMap<string, TokenIssuer> = new Map();

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
    private readonly notifications: Notifications,
  ) {
    this.copy = new ReconnectingCopy(notifications, {
      topic: TOPICS.tokenIssuers,
      read: () => this.list(),
      use: (issuers) => (this.issuers = new Map(issuers.map((issuer) => [issuer.id, issuer]))),
      warn: (reason) => this.logger.warn(`Failed to reload token issuers; using the previous ones: ${reason}`),
    });
  }

  onModuleInit(): Promise<void> {
    return this.copy.open();
  }

  onModuleDestroy(): Promise<void> {
    return this.copy.close();
  }

  /** From memory; undefined: deleted. */
  current(id: string): TokenIssuer | undefined {
    return this.issuers.get(id);
  }

  /** From memory: those with this `iss`, oldest first. */
  ofIssuer(issuer: string): readonly TokenIssuer[] {
    return [...this.issuers.values()].filter((one) => one.issuer === issuer);
  }

  /** Oldest first. */
  async list(): Promise<readonly TokenIssuer[]> {
    return (await this.dataSource.query<IssuerRow[]>(LIST)).map(issuerOf);
  }

  /** @throws TokenIssuerNotFound */
  get(id: string): Promise<TokenIssuer> {
    return this.find(id, this.dataSource.manager);
  }

  /** What members and services can belong to, by name. */
  organizations(): Promise<readonly OrganizationChoice[]> {
    return this.dataSource.query(ORGANIZATIONS);
  }

  /** @throws InvalidTokenIssuer */
  async add(added: NewTokenIssuer): Promise<string> {
    checkSettings(added);
    checkIdentity(added);
    const now = this.clock.date();
    const id = newId('iss', now.getTime());
    const { name, issuer, jwksUri, audience, algorithms, requiredClaims, maxLifetimeHours } = added;
    const { holder, matchedBy, claim, organizationId, teamId } = added;
    const settings = [jwksUri ?? null, audience, algorithms, requiredClaims, maxLifetimeHours];
    const subject = [holder, matchedBy ?? null, claim, organizationId ?? null, teamId ?? null];
    await this.dataSource.transaction(async (manager) => {
      await checkOrganization(added, manager);
      const rows = await manager.query<unknown[]>(INSERT, [id, name, issuer, ...settings, ...subject, now]);
      if (rows.length === 0)
        throw new InvalidTokenIssuer('audience', 'Enter another audience: this one is taken for the same issuer.');
      await this.changed('created', { id, name }, [...settingFacts(added), ...identityFacts(added)], manager);
    });
    await this.copy.reload();
    return id;
  }

  /**
   * @param revision that the change is based on
   * @returns one line per change
   * @throws TokenIssuerNotFound, TokenIssuerChangedMeanwhile, InvalidTokenIssuer
   */
  async change(id: string, settings: TokenIssuerSettings, revision: number): Promise<readonly string[]> {
    checkSettings(settings);
    const lines = await this.dataSource.transaction(async (manager) => {
      const before = await this.find(id, manager, 'FOR UPDATE');
      if (before.revision !== revision) throw new TokenIssuerChangedMeanwhile();
      const was = settingFacts(before);
      const differences = settingFacts(settings).filter((line, index) => line !== was[index]);
      if (differences.length === 0) return differences;
      const { name, jwksUri, algorithms, requiredClaims, maxLifetimeHours } = settings;
      await manager.query(UPDATE, [id, name, jwksUri ?? null, algorithms, requiredClaims, maxLifetimeHours]);
      await this.changed('changed', { id, name }, differences, manager);
      return differences;
    });
    await this.copy.reload();
    return lines;
  }

  /** Its tokens are refused from now on; keys of their subjects stay, for the usage log. @throws TokenIssuerNotFound */
  async remove(id: string): Promise<TokenIssuer> {
    const removed = await this.dataSource.transaction(async (manager) => {
      const issuer = await this.find(id, manager, 'FOR UPDATE');
      await manager.query('DELETE FROM token_issuers WHERE id = $1', [id]);
      await this.changed('deleted', issuer, [], manager);
      return issuer;
    });
    await this.copy.reload();
    return removed;
  }

  private async find(id: string, manager: EntityManager, lock = ''): Promise<TokenIssuer> {
    const [row] = await manager.query<IssuerRow[]>(`${FIND} ${lock}`, [id]);
    if (row === undefined) throw new TokenIssuerNotFound();
    return issuerOf(row);
  }

  private async changed(
    action: string,
    { id, name }: Pick<TokenIssuer, 'id' | 'name'>,
    lines: readonly string[],
    manager: EntityManager,
  ): Promise<void> {
    const object = { kind: 'setting', id: `token issuer ${id}`, name: `Token issuer ${name}` } as const;
    await this.audit.record({ action, object, lines }, manager);
    await this.notifications.publish(TOPICS.tokenIssuers, {}, manager);
  }
}

/** @throws InvalidTokenIssuer */
async function checkOrganization({ organizationId, teamId }: NewTokenIssuer, manager: EntityManager): Promise<void> {
  if (organizationId === undefined) return;
  const rows = await manager.query<unknown[]>(HAS_ORGANIZATION, [organizationId, teamId ?? null]);
  if (rows.length === 0) throw new InvalidTokenIssuer('organizationId', 'Choose an organization from the list.');
}

const issuerOf = ({ jwksUri, matchedBy, organizationId, teamId, ...row }: IssuerRow): TokenIssuer => ({
  ...row,
  jwksUri: jwksUri ?? undefined,
  matchedBy: matchedBy ?? undefined,
  organizationId: organizationId ?? undefined,
  teamId: teamId ?? undefined,
});
