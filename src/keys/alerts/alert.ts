import { Injectable } from '@nestjs/common';
import type { AccountNoticeText, NoticeKind } from './account-notices.js';

/** Amounts are nano-dollars as text, times as in ISO 8601. */
interface FactsByKind {
  readonly wallet: { readonly balance: string; readonly below: string };
  readonly quota: LimitFacts;
  readonly 'quota-used-up': LimitFacts;
  readonly budget: BudgetFacts;
  readonly 'budget-used-up': BudgetFacts;
  readonly expiry: { readonly expiresAt: string };
}

export interface LimitFacts {
  readonly used: string;
  /** All that may be used. */
  readonly top: string;
}

export interface BudgetFacts extends LimitFacts {
  readonly period: 'day' | 'week' | 'month';
  /** When the next period begins. */
  readonly resetsAt: string;
}

/** What is mailed, and its figures: of a threshold that is crossed, or of what has happened once. */
export type AlertContent =
  | {
      readonly [Kind in keyof FactsByKind]: { readonly kind: Kind; readonly facts: FactsByKind[Kind] };
    }[keyof FactsByKind]
  | { readonly kind: NoticeKind; readonly facts: { readonly words: AccountNoticeText } };

export type AlertKind = AlertContent['kind'];

/** Whom it goes to, and about which of their keys. */
export interface AlertAddressee {
  readonly email: string;
  readonly timeZone: string;
  /** Empty where it is about the account itself. */
  readonly keyId: string;
  readonly keyName: string;
}

/** A mail that is to be sent, and that nobody else sends now. */
export type DueAlert = AlertContent &
  AlertAddressee & {
    readonly id: string;
    /** How often it was tried, this time included. */
    readonly tries: number;
  };

/** How warnings come about, in milliseconds. The same in every process that shares a database. */
@Injectable()
export class AlertTimings {
  /** So long passes between two looks at thresholds at least, whichever process looks. */
  readonly lookEveryMs: number = 5_000;
  /** So long passes after all mails were sent that were due. */
  readonly sendEveryMs: number = 2_000;
  /**
   * Whoever takes up a mail has it so long for itself. Longer than handing it over can take: a mail that nobody has told
   * of after that belongs to a process that died.
   */
  readonly claimMs: number = 5 * 60_000;
  /** After a mail could not be handed over; twice as long each time, up to the longest. */
  readonly firstRetryMs: number = 15_000;
  readonly longestRetryMs: number = 10 * 60_000;
  /** A warning that could not be sent for so long is dropped. */
  readonly staleAfterMs: number = 24 * 60 * 60_000;
}
