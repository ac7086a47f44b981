import { Injectable } from '@nestjs/common';
import type { AccountNoticeText, NoticeKind } from './account-notices.js';

/** Amounts in nano-dollars as text, times in ISO 8601. */
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
  /** The limit. */
  readonly top: string;
}

export interface BudgetFacts extends LimitFacts {
  readonly period: 'day' | 'week' | 'month';
  /** Start of the next period. */
  readonly resetsAt: string;
}

/** Kind and figures of an alert: a crossed threshold or a one-time notice. */
export type AlertContent =
  | {
      readonly [Kind in keyof FactsByKind]: { readonly kind: Kind; readonly facts: FactsByKind[Kind] };
    }[keyof FactsByKind]
  | { readonly kind: NoticeKind; readonly facts: { readonly words: AccountNoticeText } };

export type AlertKind = AlertContent['kind'];

/** The recipients, and the key it is about. */
export interface AlertAddressee {
  readonly emails: readonly string[];
  /** Name of the organization, if it is about one. */
  readonly organization: string | null;
  readonly timeZone: string;
  /** Empty if it is about the account itself. */
  readonly keyId: string;
  readonly keyName: string;
}

/** An email that this process has claimed. */
export type DueAlert = AlertContent &
  AlertAddressee & {
    readonly id: string;
    /** Attempts, including this one. */
    readonly tries: number;
  };

/** Timings of alerts, in milliseconds; the same for all processes on a database. Tests override them. */
@Injectable()
export class AlertTimings {
  /** Min interval between scans, across processes. */
  readonly scanEveryMs: number = 5_000;
  /** Interval between checks for due emails. */
  readonly sendEveryMs: number = 2_000;
  /** How long an email is claimed. Longer than any delivery: a claim that expires belongs to a dead process. */
  readonly claimMs: number = 5 * 60_000;
  /** Delay after a failed delivery; doubles each time, up to the maximum. */
  readonly firstRetryMs: number = 15_000;
  readonly longestRetryMs: number = 10 * 60_000;
  /** Emails that could not be sent for this long are dropped. */
  readonly staleAfterMs: number = 24 * 60 * 60_000;
}
