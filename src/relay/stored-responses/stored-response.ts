import type { Secret } from '../../platform/shared/index.js';

/** Whose answers: every key has its own, and only its secret, which the request carries, opens them. */
export interface ResponseOwner {
  readonly keyId: string;
  readonly accountId: string;
  readonly secret: Secret;
}

/** What is kept of an answer, as JSON texts in the dialect of its client. */
export interface StoredContent {
  /** All that was asked, with what stands before it: an array. */
  readonly input: string;
  /** The answer as its client got it: an object. */
  readonly response: string;
}

interface Answer {
  readonly id: string;
  readonly channelId: string;
  /** Of the channel; null: it was made without any, or before this was noted. */
  readonly credentialId: string | null;
  /** Undefined: the channel keeps it. */
  readonly content: StoredContent | undefined;
}

export interface NewStoredResponse extends Answer {
  readonly callId: string;
  /** Of what it consists of: a later request may name one of them alone. */
  readonly itemIds: readonly string[];
}

export interface StoredResponse extends Answer {
  readonly expiresAt: Date;
}

/** Which channel created a piece of state, and with which credential: null without any. */
export interface StateMaker {
  readonly channelId: string;
  readonly credentialId: string | null;
}
