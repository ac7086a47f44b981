import type { Call } from '../call/index.js';
import { type CatalogModel, formatMultiplier } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import { formatUsd } from '../shared/index.js';
import type { AdmissionRequest } from './billing.repository.js';
import { type HoldRequest, holdFor } from './hold.js';
import type { PriceTerms } from './price.js';

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

/** What the row keeps of the prices, so that the cost can be worked out again from the row alone. Decimals as strings. */
function snapshotOf(call: Call, plan: BillingPlan): object {
  const terms = termsOf(call, plan);
  return {
    price_version: plan.model.priceVersionId,
    free: terms.pricing.costsNothing,
    request_fee: formatUsd(terms.pricing.requestFee),
    tiers: terms.pricing.tiers.map(({ fromPromptTokens, prices }) => ({
      from_prompt_tokens: fromPromptTokens,
      ...Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, formatUsd(price)])),
    })),
    effort: call.head.effort ?? null,
    effort_multiplier: formatMultiplier(terms.effortMultiplier),
    group: plan.group.name,
    group_multiplier: formatMultiplier(terms.groupMultiplier),
  };
}

/** What admission is asked, and the hold it is asked for. */
export function admissionRequest(
  call: Call,
  plan: BillingPlan,
  processId: string,
): { readonly request: AdmissionRequest; readonly hold: HoldRequest } {
  const hold = holdFor(call.head, plan.model, termsOf(call, plan));
  const request: AdmissionRequest = {
    id: call.id,
    created_at: new Date(call.createdAt).toISOString(),
    account_id: plan.caller.accountId,
    key_id: plan.caller.keyId,
    key_version: plan.caller.keyVersion,
    catalog_version: plan.catalogVersion.toString(),
    process_id: processId,
    model: plan.model.name,
    facts: factsOf(call, plan.group.name),
    snapshot: snapshotOf(call, plan),
    prompt: hold.prompt.toString(),
    minimum: hold.minimum.toString(),
    base: hold.base.toString(),
    ceiling: hold.ceiling.toString(),
  };
  return { request, hold };
}

/** What a finished row says of the request; kept with the open call for whoever has to finish it. */
const factsOf = (call: Call, groupName: string): object => ({
  group_name: groupName,
  protocol: call.protocol,
  stream: call.head.stream,
  effort: call.head.effort ?? '',
  ip: call.ip,
});
