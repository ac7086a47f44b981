import type { AccountState } from '../auth/index.js';
import type { Limits } from '../platform/limits/index.js';
import { AppError } from '../platform/shared/index.js';
import type { Networks } from './networks.js';

/** Deleted keys keep their row: requests with them get a specific error, and the secret can never be issued again. */
export type KeyState = 'enabled' | 'disabled' | 'deleted';

/** Who makes a call: a key in any state, and the account that pays. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly keyState: KeyState;
  /** Incremented by every change of the key; admission rejects callers that are older than the row. */
  readonly keyVersion: number;
  /** Its calls have a JWT instead of a secret. */
  readonly isTokenKey: boolean;
  /** Unix time in ms; undefined: never. */
  readonly expiresAt: number | undefined;
  readonly accountId: string;
  readonly accountState: AccountState;
  /** The account of the member who uses the key; undefined: the key is no member's. */
  readonly memberAccountId: string | undefined;
  /** False: the member left the organization, is suspended, or has a role that may not use keys. */
  readonly isMemberAllowed: boolean;
  /** The member of the organization; null: a service key, or a key of a person. */
  readonly memberId: string | null;
  /** The group that calls are billed under: the key's, else the account's, else `default`. */
  readonly groupName: string;
  /** False: the key's team may not use the group. */
  readonly isGroupAllowed: boolean;
  /** The models this key and its team may use; undefined: all. */
  readonly models: ReadonlySet<string> | undefined;
  /** Reject calls whose translation would lose content. */
  readonly strict: boolean;
  /** Whether responses may be stored on request. */
  readonly storesResponses: boolean;
  /** Allowed networks of the key and of its team; an address must be in both. Undefined: any. */
  readonly networks: Networks | undefined;
  readonly teamNetworks: Networks | undefined;
  /** Own limits of the key and of the account; the catalog's defaults apply to missing ones. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
}

/** Whether an account pays for the calls of a key, or its user makes them. */
export const belongsTo = ({ accountId: payer, memberAccountId }: Caller, accountId: string): boolean =>
  payer === accountId || memberAccountId === accountId;

/** A known key that is rejected. The caller is known, so the rejection appears in their usage log. */
export abstract class RefusedCaller extends AppError {
  constructor(
    kind: 'invalid_token' | 'permission_denied',
    message: string,
    readonly caller: Caller,
  ) {
    super(kind, message);
  }
}

/** The key or its account is not usable now. */
export class RefusedKey extends RefusedCaller {
  constructor(reason: string, caller: Caller) {
    super('invalid_token', `Invalid token: ${reason}`, caller);
  }
}

/** The key's team may not use the group that the key is billed under. */
export class RefusedGroup extends RefusedCaller {
  constructor(caller: Caller) {
    super(
      'permission_denied',
      `The team of this key may not use the group “${caller.groupName}”. Choose another group for the key, or ask an administrator of the organization.`,
      caller,
    );
  }
}

/** The key is not allowed from this address. Allowed networks are not revealed. */
export class RefusedAddress extends RefusedCaller {
  static byTeam(address: string, caller: Caller): RefusedAddress {
    return new RefusedAddress(address, caller, 'ask an administrator of the organization to allow it for your team');
  }

  constructor(address: string, caller: Caller, advice = 'add this address to the networks of the key') {
    super(
      'permission_denied',
      `Your IP address${address === '' ? '' : ` ${address}`} is not allowed for this key. Call from an allowed network, or ${advice}.`,
      caller,
    );
  }
}
