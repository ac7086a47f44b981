import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { createHash } from 'node:crypto';
import { AuditLog } from '../../platform/audit/index.js';
import { type CurrentSettings, Settings } from '../../platform/settings/index.js';
import { AppError, Clock, newId } from '../../platform/shared/index.js';
import { accountObject } from '../account.js';
import type { OrganizationScope } from '../scope.js';
import type { Visitor } from '../visit.js';
import {
  type EndedSession,
  type Membership,
  type Moment,
  SessionRepository,
  type SessionRow,
} from './session.repository.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 30 * DAY_MS;
const DEFAULT_MS = 12 * HOUR_MS;
/** Precision of the time a session was last seen. */
const SEEN_EVERY_MS = 60_000;
const MAX_USER_AGENT = 300;

/** Client of a request. */
interface ClientAddress {
  readonly ip: string;
  readonly userAgent: string;
}

/** A session as its owner sees it. */
export interface Session {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

export class SessionNotFound extends AppError {
  constructor() {
    super('not_found', 'Session not found.');
  }
}

export class OrganizationNotFound extends AppError {
  constructor() {
    super('not_found', 'Organization not found.');
  }
}

interface FoundSession {
  readonly visitor: Visitor;
  /** Whether they left, or were removed from, the organization that the session was in. */
  readonly hasLostOrganization: boolean;
}

/** Sessions of signed-in browsers, identified by the hash of the browser's token. */
@Injectable()
export class SessionService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
    private readonly settings: Settings,
  ) {}

  /**
   * Starts a session under a new token, after the password was entered or chosen, or a provider has
   * identified the user.
   * @param kept for 30 days instead of 12 hours
   * @param providerSessionId of the sign-in with a provider
   * @returns lifetime of the cookie in seconds; undefined: until the browser is closed
   */
  async start(
    accountId: string,
    token: string,
    kept: boolean,
    from: ClientAddress,
    providerSessionId?: string,
  ): Promise<number | undefined> {
    const now = this.clock.now();
    await this.sessions.deleteExpired(accountId, this.moment());
    const lifetimeMs = kept ? KEPT_MS : DEFAULT_MS;
    await this.sessions.insert({
      id: newId('ses', now),
      tokenHash: hashOf(token),
      accountId,
      ip: from.ip,
      userAgent: from.userAgent.slice(0, MAX_USER_AGENT),
      lastSeenAt: new Date(now),
      confirmedAt: new Date(now),
      expiresAt: new Date(now + lifetimeMs),
      providerSessionId: providerSessionId ?? null,
    });
    return kept ? lifetimeMs / 1000 : undefined;
  }

  /**
   * The visitor of a token; updates when they were last seen. If they no longer belong to the organization that they
   * worked in, the session returns to their own account.
   */
  async find(token: string, from: ClientAddress): Promise<FoundSession | undefined> {
    const moment = this.moment();
    const row = await this.sessions.find(hashOf(token), moment);
    if (row === undefined) return undefined;
    if (moment.now.getTime() - row.lastSeenAt.getTime() > SEEN_EVERY_MS)
      await this.sessions.touch(row.sessionId, {
        lastSeenAt: moment.now,
        ip: from.ip,
        userAgent: from.userAgent.slice(0, MAX_USER_AGENT),
      });
    const visitor = visitorOf(row, from.ip, this.settings.current().signUp);
    const isLost = row.organizationId !== null && visitor.organization === undefined;
    if (isLost) await this.sessions.leave(row.sessionId, row.organizationId);
    return { visitor, hasLostOrganization: isLost };
  }

  /** Switches the scope of the session. @param id undefined: the user's own account @throws OrganizationNotFound */
  async switchScope({ sessionId, organizations }: Visitor, id: string | undefined): Promise<void> {
    if (id !== undefined && !organizations.some((one) => one.id === id)) throw new OrganizationNotFound();
    await this.sessions.enter(sessionId, id ?? null);
  }

  /** Right after creating or joining an organization, which the visitor of this request does not list yet. */
  async enter({ sessionId }: Visitor, organizationId: string): Promise<void> {
    await this.sessions.enter(sessionId, organizationId);
  }

  /** Usable sessions, most recently seen first. */
  list(accountId: string): Promise<readonly Session[]> {
    return this.sessions.listOf(accountId, this.moment());
  }

  /** @throws SessionNotFound, also for sessions of other accounts */
  async end(accountId: string, id: string): Promise<void> {
    await this.sessions.transaction(async (manager) => {
      const ended = await this.sessions.delete(accountId, id, manager);
      if (ended === undefined) throw new SessionNotFound();
      await this.record(accountId, [ended], manager);
    });
  }

  /** Records that the password was entered again. */
  confirm(id: string): Promise<void> {
    return this.sessions.confirm(id, this.clock.date());
  }

  /** Whether the browser stays signed in when closed. */
  async isKept(accountId: string, id: string): Promise<boolean> {
    const session = (await this.list(accountId)).find((one) => one.id === id);
    return session !== undefined && session.expiresAt.getTime() - session.createdAt.getTime() > DEFAULT_MS * 2;
  }

  /** Signs out the browser with this token. */
  endByToken(token: string): Promise<void> {
    return this.sessions.deleteByToken(hashOf(token));
  }

  /** @param exceptId session to keep; undefined: none */
  async endAllOf(accountId: string, exceptId?: string, manager?: EntityManager): Promise<void> {
    const end = async (within: EntityManager): Promise<void> =>
      this.record(accountId, await this.sessions.deleteAllOf(accountId, exceptId, within), within);
    await (manager ? end(manager) : this.sessions.transaction(end));
  }

  private moment(): Moment {
    const now = this.clock.now();
    const idleMs = this.settings.current().signUp.sessionIdleHours * HOUR_MS;
    return { now: new Date(now), idleSince: new Date(now - idleMs) };
  }

  /** Audits the ended sessions by browser name. */
  private async record(id: string, ended: readonly EndedSession[], manager: EntityManager): Promise<void> {
    const [first] = ended;
    if (first === undefined) return;
    const lines = ended.map(({ userAgent }) => browserName(userAgent));
    await this.audit.record({ action: 'signed out', object: accountObject({ id, ...first }), lines }, manager);
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

function visitorOf(
  row: SessionRow,
  ip: string,
  { administratorsNeedSecondFactor, passwordSignInIsOff }: CurrentSettings['signUp'],
): Visitor {
  const isAdministrator = row.role === 'admin';
  const secondFactorNeeded = administratorsNeedSecondFactor && isAdministrator;
  const membership = row.memberships.find(({ id }) => id === row.organizationId);
  return {
    accountId: row.accountId,
    scopeId: membership?.id ?? row.accountId,
    organization: membership && scopeOf(membership),
    organizations: row.memberships.map(scopeOf),
    email: row.email,
    name: row.name,
    isAdministrator,
    verified: row.verifiedAt !== null,
    groupName: (membership ?? row).groupName ?? undefined,
    timeZone: row.timeZone,
    sessionId: row.sessionId,
    ip,
    confirmedAt: row.confirmedAt,
    hasPassword: row.hasPassword,
    confirmsAtProvider: !row.hasPassword || (passwordSignInIsOff && row.beganAtProvider),
    passwordIsTemporary: row.passwordIsTemporary,
    secondFactorNeeded,
    secondFactorMissing: secondFactorNeeded && !row.hasSecondFactor,
  };
}

const scopeOf = ({ id, name, memberId, role, teamId }: Membership): OrganizationScope => ({
  id,
  name,
  memberId,
  role,
  teamId: teamId ?? undefined,
});

const DAY_HOURS = 24;

/** For pages: `1 hour`, `36 hours`, `14 days`. */
export function idleTime(hours: number): string {
  if (hours % DAY_HOURS === 0 && hours > DAY_HOURS) return `${hours / DAY_HOURS} days`;
  return hours === 1 ? '1 hour' : `${hours} hours`;
}

/** In this order, because each browser's user agent also names those below it. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

const nameIn = (text: string, names: readonly (readonly [RegExp, string])[]): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1];

/** `Firefox on Linux`; a hint for users, not to be trusted. */
export function browserName(userAgent: string): string {
  const [browser, system] = [nameIn(userAgent, BROWSERS), nameIn(userAgent, SYSTEMS)];
  if (browser === undefined) return system === undefined ? 'Another program' : `A program on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}
