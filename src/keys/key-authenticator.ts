import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { Clock, Secret } from '../platform/shared/index.js';
import { InvalidToken } from './api-key.errors.js';
import { type Caller, RefusedAddress, RefusedKey } from './caller.js';
import { type Credentials, readCredentials } from './credentials.js';
import { KeyDirectory } from './key-directory.js';

/** Whom a key makes of whoever calls with it. */
interface ExaminedCaller {
  readonly caller: Caller;
  /** Why it may not be used now, wherever from. */
  readonly refusal: RefusedKey | undefined;
}

/** Decides who a request comes from. */
@Injectable()
export class KeyAuthenticator {
  constructor(
    private readonly directory: KeyDirectory,
    private readonly clock: Clock,
  ) {}

  /**
   * The caller behind the first key that we issued; a carrier that cannot be read does not spoil one that can.
   * @param address whom the request comes from
   * @throws RefusedKey when that key or its account may not be used now
   * @throws RefusedAddress when the key may not be used from there
   * @throws InvalidToken when we issued none of them, or none was sent
   * @throws AppError `unavailable` when the database does not answer
   */
  async authenticate({ candidates, fault }: Credentials, address: string): Promise<Caller> {
    for (const secret of candidates) {
      const caller = await this.directory.find(secret);
      if (caller) return this.accept(caller, address);
    }
    throw new InvalidToken(fault);
  }

  /**
   * The caller as its row says now, for whoever found it outdated.
   * @throws RefusedKey, RefusedAddress when the key or its account may not be used any more, or not from this address
   */
  async renew({ keyId }: Caller, address: string): Promise<Caller> {
    const caller = await this.directory.reload(keyId);
    if (caller === undefined) throw new InvalidToken('this API key no longer exists.');
    return this.accept(caller, address);
  }

  /**
   * The secret of the caller's key, for what only its holder may read. It is nowhere but in the headers that it came in.
   * @throws InvalidToken when they do not show it
   */
  async secretOf({ keyId }: Caller, headers: IncomingHttpHeaders): Promise<Secret> {
    for (const secret of readCredentials(headers, []).candidates)
      if ((await this.directory.find(secret))?.keyId === keyId) return new Secret(secret);
    throw new InvalidToken();
  }

  /** Who would call with a key, and why they may not; undefined when there is no such key. Nobody calls. */
  async examine(keyId: string): Promise<ExaminedCaller | undefined> {
    return this.examined(await this.directory.look(keyId));
  }

  /** The same of a new key of the account, one with no settings of its own; undefined when there is no account. */
  async examineNewKeyOf(accountId: string): Promise<ExaminedCaller | undefined> {
    return this.examined(await this.directory.lookAtNewKeyOf(accountId));
  }

  /**
   * Why keys of these may not be used at all any more, whatever they were when their calls began. A key that has only
   * expired since is not among them: it was good for what it began.
   * @throws AppError `unavailable` when the database does not answer
   */
  async revoked(keyIds: readonly string[]): Promise<readonly RefusedKey[]> {
    const callers = await this.directory.lookAtAll(keyIds);
    return callers.flatMap((caller) => revocationOf(caller) ?? []);
  }

  private examined(caller: Caller | undefined): ExaminedCaller | undefined {
    return caller && { caller, refusal: this.refusalOf(caller) };
  }

  /** Why the key or its account may not be used now, wherever from; undefined when it may. */
  private refusalOf(caller: Caller): RefusedKey | undefined {
    const { expiresAt } = caller;
    const revocation = revocationOf(caller);
    if (revocation === undefined && expiresAt !== undefined && expiresAt <= this.clock.now())
      return new RefusedKey(`this API key expired at ${new Date(expiresAt).toISOString()}. Use another one.`, caller);
    return revocation;
  }

  private accept(caller: Caller, address: string): Caller {
    const refusal = this.refusalOf(caller);
    if (refusal !== undefined) throw refusal;
    if (caller.networks?.includes(address) === false) throw new RefusedAddress(address, caller);
    return caller;
  }
}

/** Why a key may not be used, by its own state and that of its account; undefined when both are enabled. */
function revocationOf(caller: Caller): RefusedKey | undefined {
  const { keyState, accountState } = caller;
  if (keyState === 'deleted') return new RefusedKey('this API key was deleted. Use another one.', caller);
  if (keyState === 'disabled') return new RefusedKey('this API key is disabled. Enable it or use another one.', caller);
  if (accountState === 'deleted')
    return new RefusedKey('the account of this API key was deleted. Use another key.', caller);
  if (accountState === 'disabled')
    return new RefusedKey('the account of this API key is disabled. Contact an administrator.', caller);
  return undefined;
}
