import { AppError, type FieldFault } from '../platform/shared/index.js';

/** A call that came while the process was on its way out. SDKs try again, and find another process or the next one. */
export class NoMoreCalls extends AppError {
  constructor() {
    super(
      'shutting_down',
      'The service is shutting down and takes no new calls; nothing was sent upstream. Try again in a moment.',
      { retryAfterSeconds: 1 },
    );
  }
}

/** A call that came while the process had too much to do. SDKs try again, and find another process or this one less busy. */
export class Overloaded extends AppError {
  constructor() {
    super(
      'server_is_overloaded',
      'The service has too many calls to answer at present and takes no other; nothing was sent upstream. Try again in a moment.',
      { retryAfterSeconds: 2 },
    );
  }
}

/** A call that was still running when the process could not wait any longer. */
export class CutOff extends AppError {
  constructor() {
    super('shutting_down', 'The service is shutting down and this call did not end in time. Try again in a moment.', {
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
export class NothingIsKept extends AppError {
  /** The client asks for it. */
  static ofAnswers(): NothingIsKept {
    return new NothingIsKept('Its answer cannot be kept. Leave "store" out, or send "store": false.', 'store');
  }

  /** The client names an answer that it believes to be kept. @param answerId when it is a whole one */
  static ofNames(answerId: string | undefined): NothingIsKept {
    return new NothingIsKept(
      'It cannot refer to an earlier answer. Send the conversation itself, with "store": false.',
      answerId === undefined ? 'input' : 'previous_response_id',
      'previous_response_not_found',
    );
  }

  private constructor(advice: string, param: string, fault: FieldFault = 'unsupported_parameter') {
    super('invalid_request', `This key never stores answers. ${advice}`, { param, fault });
  }
}
