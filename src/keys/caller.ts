import type { AccountState } from '../auth/index.js';
import type { Limits } from '../platform/limits/index.js';
import { AppError } from '../platform/shared/index.js';
import type { Networks } from './networks.js';

/** A deleted key keeps its row: whoever still sends it is told so, and it can never be issued again. */
export type KeyState = 'enabled' | 'disabled' | 'deleted';

/** Who makes a call: a key that we issued, in whatever state, and the account that pays for it. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly keyState: KeyState;
  /** Raised by every change of the key; admission refuses a caller that is older than the row. */
  readonly keyVersion: number;
  /** Milliseconds since 1970; undefined: never. */
  readonly expiresAt: number | undefined;
  readonly accountId: string;
  readonly accountState: AccountState;
  /** The group that calls are billed under: the key's, else the account's, else `default`. */
  readonly groupName: string;
  /** The models this key may use; undefined: all. */
  readonly models: ReadonlySet<string> | undefined;
  /** Wants to be refused rather than to lose anything on the way into another dialect. */
  readonly strict: boolean;
  /** Whether answers may be kept for clients that ask for it. */
  readonly storesAnswers: boolean;
  /** Where the key may be used; undefined: anywhere. */
  readonly networks: Networks | undefined;
  /** The key's own, and the account's own; where they have none, the catalog's usual ones hold. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
}

/** The key is one that we issued, and it is refused. The caller is known, so the refusal can be put on their record. */
export abstract class RefusedCaller extends AppError {
  constructor(
    kind: 'invalid_token' | 'permission_denied',
    message: string,
    readonly caller: Caller,
  ) {
    super(kind, message);
  }
}

/** It is not accepted now, from anybody. */
export class RefusedKey extends RefusedCaller {
  constructor(reason: string, caller: Caller) {
    super('invalid_token', `Invalid token: ${reason}`, caller);
  }
}

/** It is not accepted from there. From where it would be is not for whoever has come by the secret to learn. */
export class RefusedAddress extends RefusedCaller {
  constructor(address: string, caller: Caller) {
    const ip = address === '' ? 'from which this request comes' : address;
    super(
      'permission_denied',
      `The IP address ${ip} is not allowed for this key. Use an allowed network, or add this one to the key.`,
      caller,
    );
  }
}
