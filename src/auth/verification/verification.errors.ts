import { AppError } from '../../platform/shared/index.js';

/** A code that proves nothing; the message says what to do. It names the field that codes are typed into. */
export class CodeRefused extends AppError {
  static malformed(): CodeRefused {
    return new CodeRefused('Enter the six-digit code from the email.');
  }

  static wrong(): CodeRefused {
    return new CodeRefused('Wrong code. Enter the six-digit code from the latest email.');
  }

  static expired(): CodeRefused {
    return new CodeRefused('This code is no longer valid. Request a new one.');
  }

  static tooOften(): CodeRefused {
    return new CodeRefused('Too many wrong codes. Request a new one.');
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'code' });
  }
}

/** A link that proves nothing any more, or never did. */
export class LinkRefused extends AppError {
  constructor() {
    super('invalid_request', 'This link is no longer valid. It was already used or replaced by a later email.');
  }
}

/** Asked for again too soon. */
export class SentJustNow extends AppError {
  constructor(seconds: number) {
    super('rate_limit_exceeded', `An email was just sent. You can request another one in ${seconds} s.`, {
      retryAfterSeconds: seconds,
    });
  }
}
