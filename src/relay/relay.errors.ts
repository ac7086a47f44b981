import { AppError, type FieldErrorCode } from '../platform/shared/index.js';

/** A call that came while the process was on its way out. SDKs try again, and find another process or the next one. */
export class NoMoreCalls extends AppError {
  constructor() {
    super('shutting_down', 'The server is shutting down. Nothing was sent upstream; retry shortly.', {
      retryAfterSeconds: 1,
    });
  }
}

/** A call that came while the process had too much to do. SDKs try again, and find another process or this one less busy. */
export class Overloaded extends AppError {
  constructor() {
    super('server_is_overloaded', 'The server is overloaded. Nothing was sent upstream; retry shortly.', {
      retryAfterSeconds: 2,
    });
  }
}

/** A call that was still running when the process could not wait any longer. */
export class CutOff extends AppError {
  constructor() {
    super('shutting_down', 'The server is shutting down and this call did not end in time. Retry shortly.', {
      retryAfterSeconds: 1,
    });
  }
}

/** A large request that waited for its translation for as long as its channels may take. */
export class TranslationTooSlow extends AppError {
  constructor() {
    super('server_is_overloaded', 'The request waited too long for its translation. Retry shortly.', {
      retryAfterSeconds: 2,
    });
  }
}

/** The key of the call keeps no answers, and the client relies on it. */
export class StorageDisabled extends AppError {
  /** The client asks for it. */
  static ofAnswers(): StorageDisabled {
    return new StorageDisabled('The response cannot be stored. Omit "store" or send "store": false.', 'store');
  }

  /** The client names an answer that it believes to be kept. @param answerId when it is a whole one */
  static ofNames(answerId: string | undefined): StorageDisabled {
    return new StorageDisabled(
      'It cannot refer to an earlier response. Send the whole conversation with "store": false.',
      answerId === undefined ? 'input' : 'previous_response_id',
      'previous_response_not_found',
    );
  }

  private constructor(advice: string, param: string, fault: FieldErrorCode = 'unsupported_parameter') {
    super('invalid_request', `This key never stores responses. ${advice}`, { param, fault });
  }
}
