import { Injectable } from '@nestjs/common';
import type { AppError } from '../../platform/shared/index.js';
import type { AdmissionResult } from './admission.js';
import { refusalOf } from './admission-line.js';
import { AdmissionOutdated, AdmissionUnavailable } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import type { HoldRequest } from './hold.js';
import { admissionRequest, type BillingPlan, type CallToAdmit } from './plan.js';
import { ThisProcess } from './sweeper/presence.js';

/** What admission would say to a call. Amounts in nanos. */
export interface TriedAdmission {
  /** What would be asked for. */
  readonly asked: HoldRequest;
  /** What would be held, and what is free; of the wallet, or of the key or budget that has not enough. */
  readonly result: AdmissionResult;
  readonly refusal: AppError | undefined;
}

/** Asks admission about a call that is not made: nothing is held, and no row is left. */
@Injectable()
export class AdmissionTrial {
  constructor(
    private readonly repository: BillingRepository,
    private readonly self: ThisProcess,
  ) {}

  /**
   * @param isNewKey the caller's key is not stored
   * @throws AdmissionUnavailable when the database does not answer
   */
  async of(call: CallToAdmit, plan: BillingPlan, isNewKey: boolean): Promise<TriedAdmission> {
    const { request, hold } = admissionRequest(call, plan, this.self.id);
    const result = await this.repository.tryAdmission(request, isNewKey).catch((cause: unknown) => {
      throw new AdmissionUnavailable(cause);
    });
    const refusal =
      result.outcome === 'stale' ? new AdmissionOutdated() : refusalOf(result, hold.minimum, plan.caller.keyName);
    return { asked: hold, result, refusal };
  }
}
