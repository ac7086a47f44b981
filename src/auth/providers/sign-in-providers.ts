import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isForbidden } from '../../catalog/channels/index.js';
import { AuditLog } from '../../platform/audit/index.js';
import { Config } from '../../platform/config/index.js';
import { AppError, Clock, SealingKey, Secret, UnreadableSecret } from '../../platform/shared/index.js';
import { checkRules, type ClaimRule, ruleText } from './claim-rules.js';

export const PROVIDER_KINDS = ['openid', 'github'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** A provider that users can sign in with: of OpenID Connect, or GitHub. */
export interface SignInProvider {
  /** Never changes. */
  readonly kind: ProviderKind;
  /** In URLs, such as `google`; never changes. */
  readonly name: string;
  /** On buttons: `Google`. */
  readonly label: string;
  /** Without `/.well-known/openid-configuration`; of GitHub, its address. */
  readonly issuer: string;
  readonly clientId: string;
  /** Whether a verified email claim signs in to the account that has the address. */
  readonly linksByEmail: boolean;
  /** Requested in addition to those of every sign-in, separated by spaces. */
  readonly scopes: string;
  /** What claims assign, the first match of each target. */
  readonly rules: readonly ClaimRule[];
  /** From 1. */
  readonly revision: number;
}

/** A provider with its secret, to talk to it. */
export interface ProviderClient extends SignInProvider {
  readonly clientSecret: Secret;
}

/** A provider as typed. */
export interface TypedProvider extends Omit<SignInProvider, 'kind' | 'revision' | 'scopes' | 'rules'> {
  /** Of a new one; default: `openid`. */
  readonly kind?: ProviderKind;
  /** Empty: the stored one stays. */
  readonly clientSecret: Secret;
}

export class ProviderNotFound extends AppError {
  constructor() {
    super('not_found', 'There is no sign-in provider with this name.');
  }
}

/** Saved by another administrator meanwhile. Nothing was changed. */
export class ProviderChangedMeanwhile extends AppError {
  constructor() {
    super('conflict', 'This provider was changed while you edited it. Review the current values and try again.');
  }
}

/** A field's value is invalid. The message starts with what to enter. */
class InvalidProvider extends AppError {
  constructor(param: keyof TypedProvider, message: string) {
    super('invalid_request', message, { param });
  }
}

type ProviderRow = SignInProvider & { readonly sealedSecret: string };

const COLUMNS = `kind, name, label, issuer, client_id AS "clientId", sealed_secret AS "sealedSecret",
                 links_by_email AS "linksByEmail", scopes, rules, revision`;
const LIST = `SELECT ${COLUMNS} FROM sign_in_providers ORDER BY created_at, name`;
const FIND = `SELECT ${COLUMNS} FROM sign_in_providers WHERE name = $1`;
const INSERT = `
  INSERT INTO sign_in_providers (name, label, issuer, client_id, sealed_secret, links_by_email, created_at, kind)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO NOTHING RETURNING name`;
const UPDATE = `
  UPDATE sign_in_providers SET label = $2, issuer = $3, client_id = $4, sealed_secret = $5, links_by_email = $6,
         revision = revision + 1 WHERE name = $1`;

const UPDATE_CLAIMS = 'UPDATE sign_in_providers SET scopes = $2, rules = $3, revision = revision + 1 WHERE name = $1';

/** What is requested and read of a provider's claims. */
export type ClaimSettings = Pick<SignInProvider, 'scopes' | 'rules'>;

/** The providers that administrators have set up. Client secrets are stored encrypted and never shown. */
@Injectable()
export class SignInProviders {
  private readonly key: SealingKey;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
    { secretKey }: Config,
  ) {
    this.key = new SealingKey(secretKey, 'switchboard sign-in providers v1');
  }

  /** Oldest first. */
  async list(): Promise<readonly SignInProvider[]> {
    return (await this.dataSource.query<ProviderRow[]>(LIST)).map(withoutSecret);
  }

  /** @throws ProviderNotFound */
  async get(name: string): Promise<SignInProvider> {
    return withoutSecret(await this.row(name, this.dataSource.manager));
  }

  /** @throws ProviderNotFound, UnreadableSecret */
  async client(name: string): Promise<ProviderClient> {
    const row = await this.row(name, this.dataSource.manager);
    return { ...withoutSecret(row), clientSecret: this.key.open(row.sealedSecret, placeOf(row)) };
  }

  /** Whether the stored secret can be decrypted. @throws ProviderNotFound */
  async hasReadableSecret(name: string): Promise<boolean> {
    try {
      await this.client(name);
      return true;
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      return false;
    }
  }

  /** @throws AppError that names the field to correct */
  async add(provider: TypedProvider): Promise<void> {
    check(provider);
    if (provider.clientSecret.reveal() === '') throw new InvalidProvider('clientSecret', 'Enter the client secret.');
    const { kind = 'openid', name, label, issuer, clientId, linksByEmail } = provider;
    const sealed = this.key.seal(provider.clientSecret, placeOf(provider));
    await this.dataSource.transaction(async (manager) => {
      const values = [name, label, issuer, clientId, sealed, linksByEmail, this.clock.date(), kind];
      const added = await manager.query<unknown[]>(INSERT, values);
      if (added.length === 0)
        throw new InvalidProvider('name', 'Enter another name: this one is taken by another provider.');
      await this.record('created', provider, factsOf(provider), manager);
    });
  }

  /**
   * @param revision that the change is based on
   * @returns one line per change
   * @throws ProviderNotFound, ProviderChangedMeanwhile, AppError that names the field to correct
   */
  async change(provider: TypedProvider, revision: number): Promise<readonly string[]> {
    return this.dataSource.transaction(async (manager) => {
      const before = await this.row(provider.name, manager, 'FOR UPDATE');
      check({ ...provider, kind: before.kind });
      if (before.revision !== revision) throw new ProviderChangedMeanwhile();
      const sealed = this.sealed(provider, before);
      const lines = differencesOf(before, provider, sealed);
      if (lines.length === 0) return lines;
      const { name, label, issuer, clientId, linksByEmail } = provider;
      await manager.query(UPDATE, [name, label, issuer, clientId, sealed, linksByEmail]);
      await this.record('changed', provider, lines, manager);
      return lines;
    });
  }

  /**
   * Replaces scopes and rules; applied at the next sign-in of each user.
   * @param revision that the change is based on
   * @returns one line per change
   * @throws ProviderNotFound, ProviderChangedMeanwhile, InvalidRule, AppError that names the field to correct
   */
  async changeClaims(name: string, claims: ClaimSettings, revision: number): Promise<readonly string[]> {
    checkScopes(claims.scopes);
    checkRules(claims.rules);
    return this.dataSource.transaction(async (manager) => {
      const before = await this.row(name, manager, 'FOR UPDATE');
      if (before.revision !== revision) throw new ProviderChangedMeanwhile();
      const lines = claimDifferences(before, claims);
      if (lines.length === 0) return lines;
      await manager.query(UPDATE_CLAIMS, [name, claims.scopes, JSON.stringify(claims.rules)]);
      await this.record('changed', before, lines, manager);
      return lines;
    });
  }

  /** Accounts keep their links, for when it is added again. @throws ProviderNotFound */
  async remove(name: string): Promise<SignInProvider> {
    return this.dataSource.transaction(async (manager) => {
      const row = await this.row(name, manager, 'FOR UPDATE');
      await manager.query('DELETE FROM sign_in_providers WHERE name = $1', [name]);
      await this.record('deleted', row, [], manager);
      return withoutSecret(row);
    });
  }

  /** Bound to issuer and client: an administrator who changes them cannot have the stored secret sent elsewhere. */
  private sealed(provider: TypedProvider, before: ProviderRow): string {
    const place = placeOf(provider);
    if (provider.clientSecret.reveal() !== '') return this.key.seal(provider.clientSecret, place);
    if (place === placeOf(before)) return before.sealedSecret;
    throw new InvalidProvider(
      'clientSecret',
      'Enter the secret again: the stored one is used only with the issuer and client ID it was saved for.',
    );
  }

  private async row(name: string, manager: EntityManager, lock = ''): Promise<ProviderRow> {
    const [row] = await manager.query<ProviderRow[]>(`${FIND} ${lock}`, [name]);
    if (row === undefined) throw new ProviderNotFound();
    return row;
  }

  private record(
    action: string,
    { name, label }: Pick<SignInProvider, 'name' | 'label'>,
    lines: readonly string[],
    manager: EntityManager,
  ): Promise<void> {
    const object = { kind: 'setting', id: `sign-in provider ${name}`, name: `Sign-in provider ${label}` } as const;
    return this.audit.record({ action, object, lines }, manager);
  }
}

const withoutSecret = ({ sealedSecret: _secret, ...provider }: ProviderRow): SignInProvider => provider;

const placeOf = ({ issuer, clientId }: Pick<SignInProvider, 'issuer' | 'clientId'>): string => `${issuer}\n${clientId}`;

const factsOf = ({ label, issuer, clientId, linksByEmail }: Omit<TypedProvider, 'kind' | 'name' | 'clientSecret'>) => [
  `name ${label}`,
  `issuer ${issuer}`,
  `client ID ${clientId}`,
  `linking by email ${linksByEmail ? 'on' : 'off'}`,
];

function differencesOf(before: ProviderRow, after: TypedProvider, sealed: string): readonly string[] {
  const [was, is] = [factsOf(before), factsOf(after)];
  const changed = is.filter((line, index) => line !== was[index]);
  return sealed === before.sealedSecret ? changed : [...changed, 'client secret changed'];
}

function claimDifferences(before: ClaimSettings, after: ClaimSettings): readonly string[] {
  const [was, is] = [before.rules.map(ruleText), after.rules.map(ruleText)];
  const added = is.filter((rule) => !was.includes(rule)).map((rule) => `rule added: ${rule}`);
  const removed = was.filter((rule) => !is.includes(rule)).map((rule) => `rule removed: ${rule}`);
  const isMoved = added.length === 0 && removed.length === 0 && was.join('\n') !== is.join('\n');
  const scopes =
    before.scopes === after.scopes ? [] : [`scopes ${before.scopes || 'none'} → ${after.scopes || 'none'}`];
  return [...scopes, ...removed, ...added, ...(isMoved ? ['order of rules changed'] : [])];
}

/** RFC 6749, 3.3. */
const SCOPES = /^(?:[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*)?$/;

/** @throws AppError */
function checkScopes(scopes: string): void {
  if (!SCOPES.test(scopes) || scopes.length > 500)
    throw new AppError('invalid_request', 'Enter scopes separated by spaces, such as groups, or leave empty.', {
      param: 'scopes',
    });
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const ONE_LINE = /^[^\p{Cc}]+$/u;

/** @throws InvalidProvider */
function check({ kind, name, label, issuer, clientId }: TypedProvider): void {
  if (!NAME.test(name) || name === 'new')
    throw new InvalidProvider('name', 'Enter up to 40 lower-case letters, digits and hyphens, such as google.');
  if (!ONE_LINE.test(label) || label.length > 60)
    throw new InvalidProvider('label', 'Enter a name of 1 to 60 characters, such as Google.');
  if (!isIssuer(issuer))
    throw new InvalidProvider('issuer', 'Enter an https:// address such as https://accounts.example.com.');
  if (kind === 'github' && new URL(issuer).pathname !== '/')
    throw new InvalidProvider('issuer', 'Enter https://github.com, or the address of your server without a path.');
  if (!ONE_LINE.test(clientId) || clientId.length > 500)
    throw new InvalidProvider('clientId', 'Enter the client ID that the provider shows.');
}

/** HTTPS, as the standard requires; plain HTTP only on loopback. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text) || text.length > 500) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || search !== '' || hash !== '' || isForbidden(hostname)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
