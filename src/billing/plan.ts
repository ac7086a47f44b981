import type { Call, CallHead, TokenUsage } from '../call/index.js';
import type { CatalogGroup, CatalogModel } from '../catalog/index.js';
import type { Caller } from '../keys/index.js';
import type { AdmissionRequest } from './admission.js';
import { type HoldRequest, holdFor, promptToHold } from './hold.js';
import type { PriceTerms } from './price.js';
import { type PriceSnapshot, priceSnapshot } from './price-snapshot.js';
import { type ServiceTier, tierToCharge, tierToHold } from './service-tier.js';

/** What a call is to be billed as, from the catalog as it stands: made anew when admission finds it stale. */
export interface BillingPlan {
  readonly caller: Caller;
  readonly model: CatalogModel;
  readonly group: Omit<CatalogGroup, 'description' | 'choice' | 'limits'>;
  readonly catalogVersion: bigint;
  /** Tokens of the conversation that the call continues, where this process knows it. */
  readonly continuedTokens?: number | undefined;
  /** The other models that the request names, by the name that the client wrote; absent when it names none. */
  readonly namedModels?: ReadonlyMap<string, CatalogModel> | undefined;
}

/** What admission looks at of a call. */
export type CallToAdmit = Pick<Call, 'id' | 'createdAt' | 'protocol' | 'head' | 'ip'>;

/** An effort that the model does not price costs what any other does. */
const UNPRICED_EFFORT = 1_000_000n;

/** What the hold of a call is priced by: in the dearest service tier that it may be answered in. */
export const termsOf = ({ head }: Pick<Call, 'head'>, plan: BillingPlan): PriceTerms =>
  terms(head, plan, tierToHold(head, plan.model.pricing));

/** What a call is charged by once its usage is known, and what its row keeps of the prices. */
export function chargedBy(
  { head }: Call,
  plan: BillingPlan,
  usage: TokenUsage,
): { readonly terms: PriceTerms; readonly snapshot: PriceSnapshot } {
  const tier = tierToCharge(head, usage, plan.model.pricing);
  const charged = terms(head, plan, tier);
  return { terms: charged, snapshot: priceSnapshot(plan.model, plan.group.name, charged, tier.name) };
}

const terms = (
  { effort }: CallHead,
  { model: { name, pricing }, group }: BillingPlan,
  tier: ServiceTier,
): PriceTerms => ({
  pricing,
  serviceMultiplier: tier.multiplier,
  effortMultiplier: pricing.effortMultipliers.get(effort ?? '') ?? UNPRICED_EFFORT,
  groupMultiplier: group.modelMultipliers.get(name) ?? group.multiplier,
});

/** What admission is asked, and the hold it is asked for. */
export function admissionRequest(
  call: CallToAdmit,
  plan: BillingPlan,
  processId: string,
): { readonly request: AdmissionRequest; readonly hold: HoldRequest } {
  const tier = tierToHold(call.head, plan.model.pricing);
  const priced = terms(call.head, plan, tier);
  const hold = holdFor(call.head, plan.model, priced, promptToHold(call.head, plan.model, plan.continuedTokens));
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
    snapshot: priceSnapshot(plan.model, plan.group.name, priced, tier.name),
    prompt: hold.prompt.toString(),
    minimum: hold.minimum.toString(),
    base: hold.base.toString(),
    ceiling: hold.ceiling.toString(),
  };
  return { request, hold };
}
