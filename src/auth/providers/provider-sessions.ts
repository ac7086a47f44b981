import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import { actingAs, AuditLog, SYSTEM } from '../../platform/audit/index.js';
import { Config } from '../../platform/config/index.js';
import { Clock, newId, networkOf, SealingKey, Secret, UnreadableSecret } from '../../platform/shared/index.js';
import { accountObject } from '../account.js';
import { browserName } from '../sessions/session.service.js';
import { Throttle } from '../throttle/throttle.js';
import { assignmentsBy, type Claims } from './claim-rules.js';
import { OpenidClient, ProviderResponseRefused, type VerifiedResponse } from './openid-client.js';
import type { ProvedIdentity, ProviderArrival } from './provider-sign-in.js';
import { type ProviderClient, type SignInProvider, SignInProviders } from './sign-in-providers.js';

/** Longer than the time to confirm a new account and the 12 hours of its session. */
const LIFETIME_MS = 24 * 3_600_000;

/** Longer hints would exceed what servers accept as a URL. */
const MAX_HINT = 6000;

const CLEAR = 'DELETE FROM provider_sessions WHERE expires_at <= $1';
const INSERT = `
  INSERT INTO provider_sessions (id, provider, issuer, subject, sid, sealed_id_token, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const FIND = `
  SELECT p.id, p.provider, p.sealed_id_token AS "sealedIdToken"
    FROM provider_sessions p JOIN sessions s ON s.provider_session_id = p.id WHERE s.id = $1`;

interface SessionRow {
  readonly id: string;
  readonly provider: string;
  readonly sealedIdToken: string;
}

/** Which provider a session began with, and its ID token. */
export interface ProviderSession {
  readonly provider: string;
  /** Undefined: too long, or not decryptable since SECRET_KEY has changed. */
  readonly idToken: Secret | undefined;
}

/** Sessions at providers that sessions of browsers began with. */
@Injectable()
export class ProviderSessions {
  private readonly key: SealingKey;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    { secretKey }: Config,
  ) {
    this.key = new SealingKey(secretKey, 'switchboard ID tokens v1');
  }

  /** What an arrival proves about the user, with the provider's session for the session that begins. */
  async prove({ provider, response, next }: ProviderArrival): Promise<ProvedIdentity> {
    const providerSessionId = await this.record(provider, response);
    const assignments = assignmentsBy(provider.rules, response.claims);
    return { provider, identity: response.identity, assignments, providerSessionId, next };
  }

  private async record({ name }: SignInProvider, { identity, sid, idToken }: VerifiedResponse): Promise<string> {
    const now = this.clock.now();
    const id = newId('pse', now);
    const expiresAt = new Date(now + LIFETIME_MS);
    await this.dataSource.query(CLEAR, [new Date(now)]);
    const { issuer, subject } = identity;
    await this.dataSource.query(INSERT, [
      id,
      name,
      issuer,
      subject,
      sid ?? null,
      idToken === undefined ? '' : this.key.seal(idToken, id),
      expiresAt,
    ]);
    return id;
  }

  /** Of a session. Undefined: it began without a provider. */
  async of(sessionId: string): Promise<ProviderSession | undefined> {
    const [row] = await this.dataSource.query<SessionRow[]>(FIND, [sessionId]);
    if (row === undefined) return undefined;
    const idToken = this.opened(row);
    return { provider: row.provider, idToken: idToken && idToken.reveal().length <= MAX_HINT ? idToken : undefined };
  }

  private opened({ id, sealedIdToken }: SessionRow): Secret | undefined {
    try {
      return this.key.open(sealedIdToken, id);
    } catch (error) {
      if (error instanceof UnreadableSecret) return undefined;
      throw error;
    }
  }
}

/** The member of `events` that makes a token a logout token. */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Whom a logout token signs out. */
interface LoggedOut {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

const REMEMBER = `
  INSERT INTO logout_tokens (token_hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING token_hash`;
const CLEAR_TOKENS = 'DELETE FROM logout_tokens WHERE expires_at <= $1';
/** Later than the accepted difference of clocks. */
const REMEMBERED_MS = 120_000;

/** Without `sid`, all sessions of the subject end (OpenID Connect Back-Channel Logout 2.7). */
const NAMED = 'p.issuer = $1 AND ($2::text IS NULL OR p.subject = $2) AND ($3::text IS NULL OR p.sid = $3)';
const END_SESSIONS = `
  DELETE FROM sessions s USING accounts a, provider_sessions p
   WHERE a.id = s.account_id AND p.id = s.provider_session_id AND ${NAMED}
  RETURNING a.id, a.email, s.user_agent AS "userAgent"`;
/** Sign-ins on their way end with it. */
const END_PROVIDER_SESSIONS = `DELETE FROM provider_sessions p WHERE ${NAMED}`;

interface EndedSession {
  readonly id: string;
  readonly email: string;
  readonly userAgent: string;
}

/** Back-channel logout: providers end sessions here that began with them. */
@Injectable()
export class ProviderLogout {
  constructor(
    private readonly dataSource: DataSource,
    private readonly providers: SignInProviders,
    private readonly client: OpenidClient,
    private readonly throttle: Throttle,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Ends the sessions that a logout token names. Each token is accepted once.
   * @param ip client address
   * @throws ProviderNotFound, ProviderResponseRefused, ProviderUnavailable, TooManyAttempts
   */
  async end(name: string, token: string, ip: string): Promise<void> {
    const provider = await this.providers.client(name);
    await this.throttle.spend('logout-from-network', networkOf(ip));
    const claims = await this.client.logoutClaims(provider, token);
    const loggedOut = loggedOutBy(claims, provider);
    await this.dataSource.transaction(async (manager) => {
      await this.remember(claims, provider, manager);
      await actingAs(SYSTEM, () => this.endSessions(loggedOut, provider, manager));
    });
    await this.throttle.giveBack('logout-from-network', networkOf(ip));
  }

  /** @throws ProviderResponseRefused for a token that was accepted before */
  private async remember({ iss, jti, exp }: Claims, provider: ProviderClient, manager: EntityManager): Promise<void> {
    await manager.query(CLEAR_TOKENS, [this.clock.date()]);
    const tokenHash = hash('sha256', `${String(iss)}\n${String(jti)}`, 'buffer');
    const expiresAt = new Date(Number(exp) * 1000 + REMEMBERED_MS);
    const inserted = await manager.query<unknown[]>(REMEMBER, [tokenHash, expiresAt]);
    if (inserted.length === 0) throw new ProviderResponseRefused(provider);
  }

  private async endSessions(
    { issuer, subject, sid }: LoggedOut,
    { label }: ProviderClient,
    manager: EntityManager,
  ): Promise<void> {
    const values = [issuer, subject ?? null, sid ?? null];
    const [ended] = await manager.query<[EndedSession[], number]>(END_SESSIONS, values);
    await manager.query(END_PROVIDER_SESSIONS, values);
    for (const { userAgent, ...account } of ended) {
      const entry = { action: 'signed out', object: accountObject(account), lines: [browserName(userAgent)] };
      await this.audit.record({ ...entry, reason: `logout at ${label}` }, manager);
    }
  }
}

/** Checks beyond those of every signed token (OpenID Connect Back-Channel Logout 2.6). @throws ProviderResponseRefused */
function loggedOutBy({ iss, sub, sid, jti, events, ...others }: Claims, provider: ProviderClient): LoggedOut {
  const event = typeof events === 'object' && events !== null ? (events as Claims)[LOGOUT_EVENT] : undefined;
  const isValid =
    typeof event === 'object' &&
    event !== null &&
    !('nonce' in others) &&
    isText(jti) &&
    (sub === undefined || isText(sub)) &&
    (sid === undefined || isText(sid)) &&
    (sub !== undefined || sid !== undefined);
  if (!isValid) throw new ProviderResponseRefused(provider);
  return { issuer: String(iss), subject: sub, sid };
}

const isText = (value: unknown): value is string => typeof value === 'string' && /^[^\p{Cc}]{1,255}$/u.test(value);
