import { AppError } from '../shared/index.js';

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

/** A call that was still running when the process could not wait any longer. */
export class CutOff extends AppError {
  constructor() {
    super('shutting_down', 'The service is shutting down and this call did not end in time. Try again in a moment.', {
      retryAfterSeconds: 1,
    });
  }
}
