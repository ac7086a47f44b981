import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createHmac, hash, randomBytes } from 'node:crypto';
import { BaseAddress, Config } from '../../platform/config/index.js';
import { AppError, Clock, derivedKey, networkOf, type Secret, UnreadableSecret } from '../../platform/shared/index.js';
import { Throttle } from '../throttle/throttle.js';
import type { Visit } from '../visit.js';
import type { MappedAssignments } from './claim-rules.js';
import {
  OpenidClient,
  type ProviderIdentity,
  ProviderUnavailable,
  type SignInChecks,
  type VerifiedResponse,
} from './openid-client.js';
import { type ProviderClient, ProviderNotFound, type SignInProvider, SignInProviders } from './sign-in-providers.js';

/** Time at the provider, and afterwards to confirm a new account or link. */
export const PROVIDER_MINUTES = 15;

const PAGES = '/sign-in/with';

/** The address that begins a sign-in. @param next local path to continue at */
export const providerLink = ({ name, label }: SignInProvider, next: string) => ({
  href: `${PAGES}/${name}?next=${encodeURIComponent(next)}`,
  label,
});

/** The state is unknown, used, expired, or of another browser. */
export class ProviderSignInExpired extends AppError {
  constructor() {
    super('permission_denied', 'This sign-in expired, was already used, or began in another browser. Try again.');
  }
}

/** The provider did not authenticate the user again. */
export class NotAuthenticatedAgain extends AppError {
  constructor({ label }: SignInProvider) {
    super(
      'permission_denied',
      `${label} did not confirm that you signed in just now. Nothing was changed. Sign out, sign in again, and repeat the action.`,
    );
  }
}

/** The user of a browser, as a provider has identified them. */
export interface ProvedIdentity {
  readonly provider: SignInProvider;
  readonly identity: ProviderIdentity;
  /** By the provider's rules. */
  readonly assignments: MappedAssignments;
  /** For the session that begins. */
  readonly providerSessionId: string;
  /** Local path to continue at. */
  readonly next: string;
}

/**
 * Why a browser is sent to a provider: to sign in, also to link; to confirm that a session's user is present; or to show
 * its administrator the claims.
 */
export type AttemptPurpose = 'sign-in' | 'confirm' | 'try';

/** What a browser is sent to a provider for. */
interface AttemptGoal {
  readonly purpose: AttemptPurpose;
  /** Local path to continue at. */
  readonly next: string;
}

const INSERT = `
  INSERT INTO provider_attempts (state_hash, visit_hash, provider, next, expires_at, purpose, session_id, begun_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
/** Each state is used once, by the browser and session that it was made for. */
const TAKE = `
  DELETE FROM provider_attempts
   WHERE state_hash = $1 AND visit_hash = $2 AND provider = $3 AND expires_at > $4
     AND (session_id IS NULL OR session_id = $5)
  RETURNING next, purpose, begun_at AS "begunAt"`;
const CLEAR = 'DELETE FROM provider_attempts WHERE expires_at <= $1';

const hashOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/** An attempt on its way: where to continue, and what its response must match. */
export interface ProviderAttempt extends AttemptGoal {
  readonly checks: SignInChecks;
  readonly begunAt: Date;
}

/** Browsers that are at a provider. */
@Injectable()
export class ProviderAttempts {
  private readonly key: Buffer;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    { secretKey }: Config,
  ) {
    this.key = derivedKey(secretKey, 'switchboard provider sign-in v1');
  }

  async begin(provider: string, { csrf, visitor }: Visit, { purpose, next }: AttemptGoal): Promise<SignInChecks> {
    const now = this.clock.now();
    const checks = this.checksOf(randomBytes(32).toString('base64url'));
    const expiresAt = new Date(now + PROVIDER_MINUTES * 60_000);
    const sessionId = purpose === 'sign-in' ? null : visitor?.sessionId;
    await this.dataSource.query(CLEAR, [new Date(now)]);
    const values = [provider, next, expiresAt, purpose, sessionId, new Date(now)];
    await this.dataSource.query(INSERT, [hashOf(checks.state), hashOf(csrf), ...values]);
    return checks;
  }

  /** @throws ProviderSignInExpired */
  async take(provider: string, { csrf, visitor }: Visit, state: string): Promise<ProviderAttempt> {
    const values = [hashOf(state), hashOf(csrf), provider, this.clock.date(), visitor?.sessionId ?? null];
    const [[row]] = await this.dataSource.query<[Omit<ProviderAttempt, 'checks'>[], number]>(TAKE, values);
    if (row === undefined) throw new ProviderSignInExpired();
    return { ...row, checks: this.checksOf(state) };
  }

  /** Nonce and verifier follow from the state, so that neither is stored. */
  private checksOf(state: string): SignInChecks {
    const derived = (use: string): string =>
      createHmac('sha256', this.key).update(`${use}\n${state}`).digest('base64url');
    return { state, nonce: derived('nonce'), verifier: derived('verifier') };
  }
}

/** A browser that is back from a provider. */
export interface ProviderArrival extends AttemptGoal {
  readonly provider: SignInProvider;
  readonly response: VerifiedResponse;
}

/** Accepted difference of clocks. */
const SKEW_MS = 60_000;

/**
 * Sends browsers to a provider and receives them again. The state is bound to the browser, which prevents login CSRF.
 */
@Injectable()
export class ProviderSignIn {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly providers: SignInProviders,
    private readonly client: OpenidClient,
    private readonly attempts: ProviderAttempts,
    private readonly throttle: Throttle,
    private readonly address: BaseAddress,
  ) {}

  /**
   * @returns the provider's address
   * @throws ProviderNotFound, ProviderUnavailable, TooManyAttempts
   */
  async begin(name: string, goal: AttemptGoal, visit: Visit): Promise<string> {
    const provider = await this.clientOf(name);
    await this.throttle.spend('provider-from-network', networkOf(visit.ip));
    const checks = await this.attempts.begin(name, visit, goal);
    const isFresh = goal.purpose === 'confirm';
    return this.client.authorizationUrl(provider, { redirectUri: this.redirectUri(name), checks, isFresh });
  }

  /** The attempt that a callback belongs to; it is used up. @throws ProviderNotFound, ProviderSignInExpired */
  async attempt(name: string, visit: Visit): Promise<ProviderAttempt> {
    await this.providers.get(name);
    return this.attempts.take(name, visit, this.callbackOf(name, visit).searchParams.get('state') ?? '');
  }

  /**
   * @throws ProviderNotFound, ProviderUnavailable, ProviderResponseRefused, ProviderSignInCanceled,
   * NotAuthenticatedAgain
   */
  async finish(name: string, { checks, begunAt, ...goal }: ProviderAttempt, visit: Visit): Promise<ProviderArrival> {
    const { clientSecret, ...provider } = await this.clientOf(name);
    const callback = this.callbackOf(name, visit);
    const response = await this.client.response({ ...provider, clientSecret }, callback, checks);
    await this.throttle.giveBack('provider-from-network', networkOf(visit.ip));
    // Providers may ignore `max_age` and `prompt`: only their statement counts.
    if (goal.purpose === 'confirm' && !isSince(response.authenticatedAt, begunAt))
      throw new NotAuthenticatedAgain(provider);
    return { ...goal, provider, response };
  }

  private callbackOf(name: string, { url }: Visit): URL {
    const callback = new URL(this.redirectUri(name));
    callback.search = new URL(url, callback).search;
    return callback;
  }

  /**
   * The address that ends the user's session at a provider. Undefined: it has none, is gone or cannot be reached.
   * @param idToken that the session began with
   */
  async endSessionUrl(name: string, idToken: Secret | undefined): Promise<string | undefined> {
    try {
      return await this.client.endSessionUrl(await this.clientOf(name), idToken, this.signedOutUri());
    } catch (error) {
      // Logged where they are raised. The user is signed out here in any case.
      if (error instanceof ProviderNotFound || error instanceof ProviderUnavailable) return undefined;
      throw error;
    }
  }

  private async clientOf(name: string): Promise<ProviderClient> {
    try {
      return await this.providers.client(name);
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      this.logger.warn(`Cannot decrypt the client secret of ${name}: SECRET_KEY has changed. Enter it in the settings`);
      throw new ProviderUnavailable(await this.providers.get(name));
    }
  }

  /** To be registered at the provider. */
  redirectUri(name: string): string {
    return `${this.address.current()}${PAGES}/${name}/callback`;
  }

  /** To be registered at the provider, for browsers that it has signed out. */
  signedOutUri(): string {
    return `${this.address.current()}/sign-in`;
  }

  /** To be registered at the provider, for its logout tokens. */
  logoutUri(name: string): string {
    return `${this.address.current()}${PAGES}/${name}/logout`;
  }
}

const isSince = (at: Date | undefined, begunAt: Date): boolean =>
  at !== undefined && at.getTime() >= begunAt.getTime() - SKEW_MS;
