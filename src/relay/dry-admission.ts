import { Injectable } from '@nestjs/common';
import {
  AdmissionTrial,
  type BillingPlan,
  likelyPromptTokens,
  type PriceTerms,
  termsOf,
  type TriedAdmission,
} from './billing/index.js';
import type { Call } from '../protocols/contract/index.js';
import { type Caller, KeyAuthenticator } from '../keys/index.js';
import type { Subject } from '../platform/limits/index.js';
import { AppError } from '../platform/shared/index.js';
import { CallLimits } from './call-limits.js';
import { ModelAccess } from './model-access.js';

/** Who would make a call: a key, or, where none is named, a new key of the account that has no settings of its own. */
export type DryCaller = { readonly keyId: string } | { readonly newKeyOf: string };

/** What is known of a call that nobody makes. */
export type DryCall = Pick<Call, 'id' | 'createdAt' | 'protocol' | 'head' | 'ip'>;

/**
 * What would be decided about a call before any upstream is asked. Every step is taken, also behind one that refuses, as
 * far as it can be: a real call hears the first refusal.
 */
export interface DryAdmission {
  readonly caller: Caller;
  /** Of the key or the account, wherever it is used. */
  readonly keyRefusal: AppError | undefined;
  /** What the call is billed as; undefined when the model refuses it. */
  readonly plan: BillingPlan | undefined;
  readonly modelRefusal: AppError | undefined;
  /** What the call would be priced by, in the dearest service tier that it may be answered in; undefined without a plan. */
  readonly terms: PriceTerms | undefined;
  /** Who is counted, and their limits; undefined when nobody of them has any. */
  readonly subjects: readonly Subject[] | undefined;
  /** It asks for more than a limit ever allows. What others use of the limits meanwhile is not looked at. */
  readonly limitRefusal: AppError | undefined;
  /** Undefined without a plan, and where the key may not be used: then nobody asks for money. */
  readonly money: TriedAdmission | undefined;
}

/** Asks of everything that admits calls what it would say to one. */
@Injectable()
export class DryAdmissions {
  constructor(
    private readonly keys: KeyAuthenticator,
    private readonly models: ModelAccess,
    private readonly limits: CallLimits,
    private readonly trial: AdmissionTrial,
  ) {}

  /** Undefined when there is no such key or account. @throws AppError `unavailable` when the database does not answer */
  async of(call: DryCall, who: DryCaller): Promise<DryAdmission | undefined> {
    const isNewKey = 'newKeyOf' in who;
    const examined = await (isNewKey ? this.keys.examineNewKeyOf(who.newKeyOf) : this.keys.examine(who.keyId));
    if (examined === undefined) return undefined;
    const { caller, refusal: keyRefusal } = examined;
    const planned = this.planned(call, caller);
    const plan = planned instanceof AppError ? undefined : planned;
    const subjects = this.limits.subjectsOf(caller, call.ip);
    return {
      caller,
      keyRefusal,
      plan,
      modelRefusal: planned instanceof AppError ? planned : undefined,
      terms: plan && termsOf(call, plan),
      subjects,
      limitRefusal: plan && subjects && this.limitRefusal(call, plan, subjects),
      money: plan && keyRefusal === undefined ? await this.trial.of(call, plan, isNewKey) : undefined,
    };
  }

  private planned(call: DryCall, caller: Caller): BillingPlan | AppError {
    try {
      return this.models.plan(call, caller);
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  private limitRefusal(
    { id, head }: DryCall,
    { model }: BillingPlan,
    subjects: readonly Subject[],
  ): AppError | undefined {
    const tokens = likelyPromptTokens(head.size, model.contextWindow);
    return this.limits.refusalOfAlone({ id, subjects, tokens, runs: true });
  }
}
