import type { Call } from '../call/index.js';
import type { CatalogModel } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import type { AdmissionRequest } from './admission.js';
import { type HoldRequest, holdFor } from './hold.js';
import type { PriceTerms } from './price.js';
import { priceSnapshot } from './price-snapshot.js';

/** What a call is to be billed as, from the catalog as it stands: made anew when admission finds it stale. */
export interface BillingPlan {
  readonly caller: Caller;
  readonly model: CatalogModel;
  readonly group: { readonly name: string; readonly multiplier: bigint };
  readonly catalogVersion: bigint;
}

/** An effort that the model does not price costs what any other does. */
const UNPRICED_EFFORT = 1_000_000n;

export const termsOf = ({ head }: Call, { model: { pricing }, group }: BillingPlan): PriceTerms => ({
  pricing,
  effortMultiplier: pricing.effortMultipliers.get(head.effort ?? '') ?? UNPRICED_EFFORT,
  groupMultiplier: group.multiplier,
});

/** What admission is asked, and the hold it is asked for. */
export function admissionRequest(
  call: Call,
  plan: BillingPlan,
  processId: string,
): { readonly request: AdmissionRequest; readonly hold: HoldRequest } {
  const terms = termsOf(call, plan);
  const hold = holdFor(call.head, plan.model, terms);
  const request: AdmissionRequest = {
    id: call.id,
    created_at: new Date(call.createdAt).toISOString(),
    account_id: plan.caller.accountId,
    key_id: plan.caller.keyId,
    key_version: plan.caller.keyVersion,
    catalog_version: plan.catalogVersion.toString(),
    process_id: processId,
    model: plan.model.name,
    group_name: plan.group.name,
    protocol: call.protocol,
    stream: call.head.stream,
    effort: call.head.effort ?? '',
    ip: call.ip,
    snapshot: priceSnapshot(plan.model, plan.group.name, terms),
    prompt: hold.prompt.toString(),
    minimum: hold.minimum.toString(),
    base: hold.base.toString(),
    ceiling: hold.ceiling.toString(),
  };
  return { request, hold };
}
