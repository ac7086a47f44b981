import { Injectable } from '@nestjs/common';
import type { AppError } from '../../platform/shared/index.js';
import type { AdmissionResult } from './admission.js';
import { AdmissionOutdated, AdmissionUnavailable, refusalOf } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import type { HoldRequest } from './hold.js';
import { admissionRequest, type BillingPlan, type CallToAdmit } from './plan.js';
import { CurrentProcess } from './sweeper/presence.js';

/** Result of a trial admission. Amounts in nanos. */
export interface AdmissionTrialResult {
  /** The requested hold. */
  readonly requested: HoldRequest;
  /** Hold and free amount of the wallet, or of the key or budget that lacks money. */
  readonly result: AdmissionResult;
  readonly refusal: AppError | undefined;
}

/** Runs admission without effect: nothing is held or recorded. */
@Injectable()
export class AdmissionTrial {
  constructor(
    private readonly repository: BillingRepository,
    private readonly self: CurrentProcess,
  ) {}

  /**
   * @param isNewKey the caller's key is not stored
   * @throws AdmissionUnavailable when the database does not respond
   */
  async of(call: CallToAdmit, plan: BillingPlan, isNewKey: boolean): Promise<AdmissionTrialResult> {
    const { request, hold } = admissionRequest(call, plan, this.self.id);
    const result = await this.repository.tryAdmission(request, isNewKey).catch((cause: unknown) => {
      throw new AdmissionUnavailable(cause);
    });
    const refusal = result.outcome === 'stale' ? new AdmissionOutdated() : refusalOf(result, hold.minimum, plan.caller);
    return { requested: hold, result, refusal };
  }
}
