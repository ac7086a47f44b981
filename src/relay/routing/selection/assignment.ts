import type { AppError } from '../../../platform/shared/index.js';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import type { ObservedAttempt } from '../health/observed-attempt.js';
import { classifyFailure, isOfCredential } from '../health/upstream-failure.js';

interface Duties {
  readonly observed: ObservedAttempt;
  /** The credential alone was at fault: another one of the same channel may do. */
  readonly onCredentialFault: () => void;
  readonly onReleased: () => void;
}

/** One attempt's channel and credential, until it is released; what came of it is told before that. */
export class Assignment {
  private isTold = false;
  private isReleased = false;

  constructor(
    readonly channel: Channel,
    /** Undefined where the channel is called without any. */
    readonly credential: ChannelCredential | undefined,
    /** Content is waited for: it tells that something that rested answers again. */
    readonly isProbe: boolean,
    private readonly duties: Duties,
  ) {}

  /** Content of an answer has come. */
  answered(): void {
    this.duties.observed.answered();
  }

  /** The answer is complete. */
  succeeded(): void {
    if (this.isTold) return;
    this.isTold = true;
    this.duties.observed.succeeded();
  }

  /** Also when content had come before. What is not the upstream's fault says nothing of it. */
  failed(error: AppError): void {
    if (this.isTold) return;
    this.isTold = true;
    if (isOfCredential(classifyFailure(error))) this.duties.onCredentialFault();
    this.duties.observed.failed(error);
  }

  /** Gives the channel back. Without a word before, it was not asked, or nobody waited for its answer. Again: nothing. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    if (!this.isTold) this.duties.observed.left();
    this.isTold = true;
    this.duties.onReleased();
  }
}
