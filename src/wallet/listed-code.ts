import type { Nanos } from '../platform/shared/index.js';

/** A code as the operator sees it: never the code itself. */
export interface ListedCode {
  readonly id: string;
  /** Of all that were made together; null: made before this was noted. */
  readonly batchId: string | null;
  readonly amount: Nanos;
  readonly note: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly voidedAt: Date | null;
  readonly redeemedAt: Date | null;
  /** Email address of the account that redeemed it. */
  readonly redeemedBy: string | null;
  readonly redeemedById: string | null;
}

export const CODE_STATES = ['open', 'redeemed', 'expired', 'voided'] as const;
/** `voided`: the operator has made it worth nothing before anybody redeemed it. */
export type CodeState = (typeof CODE_STATES)[number];

/** Which codes are looked for. */
export interface CodeFilter {
  readonly state?: CodeState | undefined;
  readonly batch?: string | undefined;
  /** Part of the id, of the note, or of the address of whoever redeemed it. */
  readonly text?: string | undefined;
}

/** A place in the list, newest code first. */
export interface CodePosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}
