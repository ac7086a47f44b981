import { AppError } from '../platform/shared/index.js';

export class AccountExists extends AppError {
  constructor(email: string) {
    super('invalid_request', `An account with the email address ${email} already exists.`, { param: 'email' });
  }
}

export class AccountNotFound extends AppError {
  constructor(email: string) {
    super('not_found', `No account has the email address ${email}.`, { param: 'email' });
  }
}

/** It was there when its owner signed in. */
export class AccountGone extends AppError {
  constructor() {
    super('not_found', 'Account not found.');
  }
}

export class AccountChangedMeanwhile extends AppError {
  constructor() {
    super(
      'conflict',
      'The group or the limits of this account were changed while you edited them. Review the current values and try again.',
    );
  }
}

/** Without an administrator nobody could make another one. */
export class LastAdministrator extends AppError {
  constructor() {
    super('conflict', 'This is the last administrator who can sign in. Make another account an administrator first.', {
      param: 'role',
    });
  }
}

export class InvalidAccount extends AppError {
  static forEmail(text: string): InvalidAccount {
    return new InvalidAccount('email', `"${text}" is not a valid email address.`);
  }

  static forName(): InvalidAccount {
    return new InvalidAccount('name', 'A name has at most 100 characters and no line breaks or control characters.');
  }

  static forPassword(): InvalidAccount {
    return new InvalidAccount('password', 'A password has 12 to 128 characters.');
  }

  constructor(param: string, message: string) {
    super('invalid_request', message, { param });
  }
}
