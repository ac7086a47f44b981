import { AppError } from '../platform/shared/index.js';

export class KeyOfAnotherRequest extends AppError {
  constructor(callId: string) {
    super(
      'invalid_request',
      `This Idempotency-Key belongs to a different request, ${callId}, which is still running. Use a unique key for each request.`,
    );
  }
}

export class ResponseIncomplete extends AppError {
  constructor(callId: string, reason: string) {
    super(
      'conflict',
      `A request with this Idempotency-Key, ${callId}, is still running, and its response can no longer be shared: ${reason}. Wait for that request or use another key.`,
    );
  }
}

export class TooFarBehind extends AppError {
  constructor(callId: string, bytes: number) {
    super(
      'timeout',
      `This client fell more than ${bytes} bytes behind other readers of the shared response of ${callId} and was disconnected.`,
    );
  }
}
