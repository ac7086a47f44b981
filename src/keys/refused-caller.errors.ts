import { AppError } from '../platform/shared/index.js';
import type { Caller } from './caller.js';

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
