import { AppError } from '../platform/shared/index.js';

export class KeyOfAnotherRequest extends AppError {
  constructor(callId: string) {
    super(
      'invalid_request',
      `The Idempotency-Key is that of another request, ${callId}, which is still running: give each request a key of its own.`,
    );
  }
}

export class AnswerNotWhole extends AppError {
  constructor(callId: string, reason: string) {
    super(
      'conflict',
      `A request with this Idempotency-Key, ${callId}, is still running, and its answer can be shared no longer: ${reason}. Wait for that request, or use another key.`,
    );
  }
}

export class TooFarBehind extends AppError {
  constructor(callId: string, bytes: number) {
    super(
      'timeout',
      `This client is more than ${bytes} bytes behind the other clients of the same answer, that of ${callId}, and was left behind.`,
    );
  }
}
