import { AppError } from '../../platform/shared/index.js';

/** A code that proves nothing; the message says what to do. It names the field that codes are typed into. */
export class CodeRefused extends AppError {
  static malformed(): CodeRefused {
    return new CodeRefused('Enter the six digits from the mail.');
  }

  static wrong(): CodeRefused {
    return new CodeRefused('This is not the code. Enter the six digits from the latest mail.');
  }

  static expired(): CodeRefused {
    return new CodeRefused('This code is no longer valid. Have a new one sent.');
  }

  static tooOften(): CodeRefused {
    return new CodeRefused('Too many wrong codes. Have a new one sent.');
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'code' });
  }
}

/** A link that proves nothing any more, or never did. */
export class LinkRefused extends AppError {
  constructor() {
    super('invalid_request', 'This link is no longer valid: it was used already, or a later mail has replaced it.');
  }
}

/** Asked for again too soon. */
export class SentJustNow extends AppError {
  constructor(seconds: number) {
    super('rate_limit_exceeded', `A mail was sent just now. Another one can be sent in ${seconds} s.`, {
      retryAfterSeconds: seconds,
    });
  }
}
