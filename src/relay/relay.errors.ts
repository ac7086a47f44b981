import { AppError, type FieldErrorCode, type JsonObject } from '../platform/shared/index.js';

/** Rejected during shutdown. SDKs retry and reach another process. */
export class NoMoreCalls extends AppError {
  constructor() {
    super('shutting_down', 'The server is shutting down. Nothing was sent upstream; retry shortly.', {
      retryAfterSeconds: 1,
    });
  }
}

/** Rejected under overload. SDKs retry. */
export class Overloaded extends AppError {
  constructor() {
    super('server_is_overloaded', 'The server is overloaded. Nothing was sent upstream; retry shortly.', {
      retryAfterSeconds: 2,
    });
  }
}

/** Aborted at the end of the shutdown grace period. */
export class CutOff extends AppError {
  constructor() {
    super('shutting_down', 'The server is shutting down and this call did not end in time. Retry shortly.', {
      retryAfterSeconds: 1,
    });
  }
}

/** A large request waited for its translation for the whole time limit. */
export class TranslationTooSlow extends AppError {
  constructor() {
    super('server_is_overloaded', 'The request waited too long to be translated. Retry shortly.', {
      retryAfterSeconds: 2,
    });
  }
}

/** The channel's protocol cannot express the request; another channel may. */
export class NotForThisChannel extends Error {
  /** @param reason error for the client if no other channel is suitable */
  constructor(readonly reason: AppError) {
    super(reason.message);
  }
}

/** The key does not allow stored responses, but the request needs them. */
export class StorageDisabled extends AppError {
  /** The client requests storage. */
  static forResponse(): StorageDisabled {
    return new StorageDisabled('The response cannot be stored. Omit "store" or send "store": false.', 'store');
  }

  /** The client refers to a stored response. @param responseId its complete ID, if known */
  static forReference(responseId: string | undefined): StorageDisabled {
    return new StorageDisabled(
      'Requests cannot refer to an earlier response. Send the whole conversation with "store": false.',
      responseId === undefined ? 'input' : 'previous_response_id',
      'previous_response_not_found',
    );
  }

  /** The client asks for a thread, or continues one. */
  static forThread(): StorageDisabled {
    return new StorageDisabled('Send the whole conversation without "thread".', 'thread', undefined, {
      error_code: 'thread_unsupported_request',
      unsupported: ['thread'],
    });
  }

  /** @param wireDetails by which clients recognize the error */
  private constructor(
    advice: string,
    param: string,
    fault: FieldErrorCode = 'unsupported_parameter',
    readonly wireDetails?: JsonObject,
  ) {
    super('invalid_request', `This key never stores responses. ${advice}`, { param, fault });
  }
}
