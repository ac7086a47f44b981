import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createHmac, hash, randomBytes } from 'node:crypto';
import { BaseAddress, Config } from '../../platform/config/index.js';
import { AppError, Clock, derivedKey, networkOf, UnreadableSecret } from '../../platform/shared/index.js';
import { Throttle } from '../throttle/throttle.js';
import type { Visit } from '../visit.js';
import { OpenidClient, type ProviderIdentity, ProviderUnavailable, type SignInChecks } from './openid-client.js';
import { type ProviderClient, type SignInProvider, SignInProviders } from './sign-in-providers.js';

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

/** The user of a browser, as a provider has identified them. */
export interface ProvedIdentity {
  readonly provider: SignInProvider;
  readonly identity: ProviderIdentity;
  /** Local path to continue at. */
  readonly next: string;
}

const INSERT = `
  INSERT INTO provider_attempts (state_hash, visit_hash, provider, next, expires_at) VALUES ($1, $2, $3, $4, $5)`;
/** Each state is used once, by the browser that it was made for. */
const TAKE = `
  DELETE FROM provider_attempts WHERE state_hash = $1 AND visit_hash = $2 AND provider = $3 AND expires_at > $4
  RETURNING next`;
const CLEAR = 'DELETE FROM provider_attempts WHERE expires_at <= $1';

const hashOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/** An attempt on its way: where to continue, and what its response must match. */
interface Attempt {
  readonly next: string;
  readonly checks: SignInChecks;
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

  /** @param visitKey form token, known to this browser only */
  async begin(provider: string, visitKey: string, next: string): Promise<SignInChecks> {
    const now = this.clock.now();
    const checks = this.checksOf(randomBytes(32).toString('base64url'));
    const expiresAt = new Date(now + PROVIDER_MINUTES * 60_000);
    await this.dataSource.query(CLEAR, [new Date(now)]);
    await this.dataSource.query(INSERT, [hashOf(checks.state), hashOf(visitKey), provider, next, expiresAt]);
    return checks;
  }

  /** @throws ProviderSignInExpired */
  async take(provider: string, visitKey: string, state: string): Promise<Attempt> {
    const values = [hashOf(state), hashOf(visitKey), provider, this.clock.date()];
    const [[row]] = await this.dataSource.query<[{ next: string }[], number]>(TAKE, values);
    if (row === undefined) throw new ProviderSignInExpired();
    return { next: row.next, checks: this.checksOf(state) };
  }

  /** Nonce and verifier follow from the state, so that neither is stored. */
  private checksOf(state: string): SignInChecks {
    const derived = (use: string): string =>
      createHmac('sha256', this.key).update(`${use}\n${state}`).digest('base64url');
    return { state, nonce: derived('nonce'), verifier: derived('verifier') };
  }
}

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
   * @param next local path
   * @returns the provider's address
   * @throws ProviderNotFound, ProviderUnavailable, TooManyAttempts
   */
  async begin(name: string, next: string, { csrf, ip }: Visit): Promise<string> {
    const provider = await this.clientOf(name);
    await this.throttle.spend('provider-from-network', networkOf(ip));
    const checks = await this.attempts.begin(name, csrf, next);
    return this.client.authorizationUrl(provider, this.redirectUri(name), checks);
  }

  /**
   * @throws ProviderNotFound, ProviderSignInExpired, ProviderUnavailable, ProviderResponseRefused,
   * ProviderSignInCanceled
   */
  async finish(name: string, { csrf, ip, url }: Visit): Promise<ProvedIdentity> {
    const { clientSecret, ...provider } = await this.clientOf(name);
    const callback = new URL(this.redirectUri(name));
    callback.search = new URL(url, callback).search;
    const { next, checks } = await this.attempts.take(name, csrf, callback.searchParams.get('state') ?? '');
    const identity = await this.client.identity({ ...provider, clientSecret }, callback, checks);
    await this.throttle.giveBack('provider-from-network', networkOf(ip));
    return { provider, identity, next };
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
}
