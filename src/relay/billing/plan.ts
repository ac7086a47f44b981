import type { CatalogGroup, CatalogModel, Pricing, TokenClass } from '../../catalog/index.js';
import type { Caller } from '../../keys/index.js';
import { type Call, type CallHead, NO_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import type { AdmissionRequest } from './admission.js';
import { type HeldWithoutOutput, type HoldRequest, holdFor, promptToHold } from './hold.js';
import {
  costOf,
  costOfParts,
  costItems,
  mostExpensivePrompt,
  exactCost,
  passItems,
  type PricedPart,
  type PriceSnapshot,
  priceSnapshot,
  type PriceTerms,
  withPassPrices,
} from './price.js';
import { IMAGE_TOOL, type Service, serviceToCharge, serviceToHold } from './service-tier.js';
import { MAX_TOKENS_PER_GENERATED_IMAGE, maxUsesOf } from './usage-check.js';

/** How a call is billed, from the current catalog; recreated when admission finds it outdated. */
export interface BillingPlan {
  readonly caller: Caller;
  readonly model: CatalogModel;
  readonly group: Omit<CatalogGroup, 'description' | 'choice' | 'limits'>;
  readonly catalogVersion: bigint;
  /** Tokens of the continued conversation, if known to this process. */
  readonly continuedTokens?: number | undefined;
  /** Other models named by the request, by the name as written; absent if none. */
  readonly namedModels?: ReadonlyMap<string, CatalogModel> | undefined;
}

/** The input of admission for a call. */
export type CallToAdmit = Pick<Call, 'id' | 'createdAt' | 'protocol' | 'head' | 'ip'>;

/** Multiplier of efforts without a price. */
const UNPRICED_EFFORT = 1_000_000n;

/** Terms of a hold: those of every model that may serve the whole call, in the most expensive service possible. */
export function termsOf(
  { head }: Pick<Call, 'head'>,
  plan: BillingPlan,
  service = serviceToHold(head, plan.model.pricing),
): PriceTerms {
  const own = terms(head, plan, plan.model, service);
  if (head.demands === undefined) return own;
  const alternatives = head.demands.models.flatMap(({ role, name }) => {
    const model = role === 'alternative' ? plan.namedModels?.get(name) : undefined;
    return model === undefined ? [] : [termsToHold(head, plan, model)];
  });
  return alternatives.length === 0 ? own : { ...own, alternatives };
}

/** Terms for holding a pass of one model. */
export const termsToHold = (head: CallHead, plan: BillingPlan, model: CatalogModel): PriceTerms =>
  terms(head, plan, model, serviceToHold(head, model.pricing));

/** Charge for one model. */
export interface ChargedPart extends PricedPart {
  readonly model: string;
}

/** The charge of a call once its usage is known. */
export interface ChargedCall {
  /** The totals first, then one per pass. */
  readonly parts: readonly [ChargedPart, ...ChargedPart[]];
  /** The price snapshot for its row. */
  readonly snapshot: PriceSnapshot;
}

/**
 * Charges each pass at the prices of its model.
 * @param upstreamNames upstream names of a model, by which passes are reported
 */
export function chargedBy(
  { head }: Pick<Call, 'head'>,
  plan: BillingPlan,
  usage: TokenUsage,
  upstreamNames: UpstreamNames,
): ChargedCall {
  const price = (model: CatalogModel, items: PricedPart['items']): PricedModel => {
    const service = serviceToCharge(head, usage, model.pricing);
    return { model, service, part: { model: model.name, terms: terms(head, plan, model, service), items } };
  };
  const priceOf = (named: string | undefined, itemsOf: (model: CatalogModel) => PricedPart['items']): PricedModel => {
    const model = reportedModel(plan, named, upstreamNames);
    if (model !== undefined) return price(model, itemsOf(model));
    return dearest(plannedModels(plan).map((one) => price(one, itemsOf(one))));
  };
  const own = priceOf(usage.servedBy, ({ pricing }) => costItems(pricing, usage));
  if (usage.passes === undefined) return { parts: [own.part], snapshot: snapshotOf(plan, own, []) };
  const passes = usage.passes.map((pass) => priceOf(pass.model, ({ pricing }) => passItems(pricing, pass.usage)));
  return { parts: [own.part, ...passes.map(({ part }) => part)], snapshot: snapshotOf(plan, own, passes) };
}

/** Upstream names of a model. */
export type UpstreamNames = (model: string) => readonly string[];

interface PricedModel {
  readonly model: CatalogModel;
  readonly service: Service;
  readonly part: ChargedPart;
}

function snapshotOf({ model, group }: BillingPlan, own: PricedModel, passes: readonly PricedModel[]): PriceSnapshot {
  const textOf = (priced: PricedModel, servedBy = ''): PriceSnapshot =>
    priceSnapshot(priced.model, group.name, priced.part.terms, priced.service, servedBy);
  const ownText = textOf(own, own.model === model ? '' : own.model.name);
  const others = passes.filter((pass) => pass.model !== own.model);
  if (others.length === 0) return ownText;
  return withPassPrices(ownText, new Map(others.map((pass) => [pass.model.name, textOf(pass)])));
}

const plannedModels = ({ model, namedModels }: BillingPlan): readonly CatalogModel[] => [
  ...new Set([model, ...(namedModels?.values() ?? [])]),
];

/** Release suffix of a model name: `-20260205`, `-2026-02-05`. */
const RELEASE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The planned model that an upstream reports under this name or its release; undefined if none. */
export function reportedModel(
  plan: BillingPlan,
  reported: string | undefined,
  upstreamNames: UpstreamNames,
): CatalogModel | undefined {
  if (reported === undefined) return plan.model;
  const requested = [...(plan.namedModels ?? [])];
  const known = [[plan.model.name, plan.model] as const, ...requested].flatMap(([written, model]) =>
    [written, model.name, ...upstreamNames(model.name)].map((name) => ({ name, model })),
  );
  const family = reported.replace(RELEASE, '');
  const found =
    known.find(({ name }) => name === reported) ?? known.find(({ name }) => name.replace(RELEASE, '') === family);
  return found?.model;
}

/** An unknown reported model could be any of the planned ones; charging the most expensive one never loses money. */
const dearest = (priced: readonly PricedModel[]): PricedModel =>
  priced.reduce((one, other) => (exactCost(other.part) > exactCost(one.part) ? other : one));

const terms = (head: CallHead, plan: BillingPlan, model: CatalogModel, { tier, speed, geo }: Service): PriceTerms => ({
  pricing: model.pricing,
  serviceMultiplier: tier.multiplier,
  speedMultiplier: speed.multiplier,
  geoMultiplier: geo.multiplier,
  effortMultiplier: effortMultiplier(head, plan, model),
  groupMultiplier: plan.group.modelMultipliers.get(model.name) ?? plan.group.multiplier,
});

/** The highest of all efforts that may apply to a model: the upstream does not report which did. */
function effortMultiplier(
  { effort, otherEfforts = [], demands }: CallHead,
  { namedModels }: BillingPlan,
  model: CatalogModel,
): bigint {
  const own = demands?.models.filter(({ name }) => namedModels?.get(name) === model) ?? [];
  return [effort, ...otherEfforts, ...own.flatMap((named) => (named.effort === undefined ? [] : [named.effort]))]
    .map((one) => model.pricing.effortMultipliers.get(one ?? '') ?? UNPRICED_EFFORT)
    .reduce((one, other) => (one > other ? one : other));
}

/** Default uses of a helper without a limit. */
const DEFAULT_HELPER_USES = 10;

/**
 * The hold besides output.
 * @param countedTokens counted prompt tokens
 */
export function besideToHold(
  { head }: Pick<Call, 'head'>,
  plan: BillingPlan,
  priced: PriceTerms,
  countedTokens?: number,
): HeldWithoutOutput {
  const bound = promptToHold(head, plan.model, plan.continuedTokens);
  const promptTokens = countedTokens === undefined ? bound : Math.min(bound, countedTokens);
  const prompt = mostExpensivePrompt(priced, promptTokens, classesOfPrompt(head));
  if (head.demands === undefined) return { prompt, reserve: 0n };
  const fees = [priced, ...(priced.alternatives ?? [])].map((one) => feesToHold(head, one, promptTokens));
  const reserve =
    fees.reduce((one, other) => (one > other ? one : other)) + passesToHold(head, plan, priced, promptTokens);
  return { prompt, reserve };
}

/** Classes the prompt may be charged as: input, and possible cache writes. */
function classesOfPrompt({ cacheLifetime, size, demands }: CallHead): readonly TokenClass[] {
  if (cacheLifetime === 'none') return ['input'];
  const classes: TokenClass[] = ['input', 'cache_write_5m'];
  if ((cacheLifetime ?? size.cacheLifetime) === '1h') classes.push('cache_write_1h');
  if (demands?.cacheLifetime === '12h') classes.push('cache_write_12h');
  return classes;
}

/** Fees of hosted tools at their max uses; with a common limit, the most expensive first. */
function feesToHold(head: CallHead, priced: PriceTerms, promptTokens: number): bigint {
  const { hostedTools = [], maxToolCalls = Infinity } = head.demands ?? {};
  const { pricing } = priced;
  const partOf = (tool: string, uses: number): PricedPart => ({
    terms: priced,
    items: passItems(pricing, usesToHold(pricing, tool, uses, promptTokens)),
  });
  const tools = [...new Set(hostedTools.map(({ name }) => name))].toSorted((one, other) =>
    exactCost(partOf(one, 1)) < exactCost(partOf(other, 1)) ? 1 : -1,
  );
  let left = maxToolCalls;
  const parts = tools.map((tool) => {
    const uses = Math.min(left, maxUsesOf(head, pricing, tool));
    left -= uses;
    return partOf(tool, uses);
  });
  return costOfParts(parts);
}

/** The image tool may also be priced by tokens: each use reads the prompt, as text or images. */
function usesToHold({ imageGeneration }: Pricing, tool: string, uses: number, promptTokens: number): TokenUsage {
  const usage = { ...NO_TOKENS, toolUses: { [tool]: uses } };
  if (tool !== IMAGE_TOOL || imageGeneration === undefined) return usage;
  const [read, written] = [promptTokens * uses, MAX_TOKENS_PER_GENERATED_IMAGE * uses];
  const isTextDearer = imageGeneration.text_input > imageGeneration.image_input;
  const isTextWritten = imageGeneration.text_output > imageGeneration.image_output;
  return {
    ...usage,
    imageGeneration: {
      textInput: isTextDearer ? read : 0,
      imageInput: isTextDearer ? 0 : read,
      textOutput: isTextWritten ? written : 0,
      imageOutput: isTextWritten ? 0 : written,
    },
  };
}

/** A compaction reads the prompt again and writes up to the model's max output; helpers do so at their own prices. */
function passesToHold(head: CallHead, plan: BillingPlan, priced: PriceTerms, input: number): bigint {
  const { demands } = head;
  const helpers = (demands?.models ?? []).filter(({ role }) => role === 'helper');
  let sum = 0n;
  for (const { name, maxUses = DEFAULT_HELPER_USES, outputLimit } of helpers) {
    const model = plan.namedModels?.get(name);
    if (model === undefined) continue;
    const output = Math.min(outputLimit ?? model.maxOutputTokens, model.maxOutputTokens);
    const one = costOf(termsToHold(head, plan, model), { ...NO_TOKENS, input, output });
    sum += BigInt(maxUses) * one;
  }
  if (demands?.addsPasses === true && helpers.length === 0)
    sum += costOf(priced, { ...NO_TOKENS, input, output: plan.model.maxOutputTokens });
  return sum;
}

/** The admission request and its hold. */
export function admissionRequest(
  call: CallToAdmit,
  plan: BillingPlan,
  processId: string,
  countedTokens?: number,
): {
  readonly request: AdmissionRequest;
  readonly terms: PriceTerms;
  readonly hold: HoldRequest;
  readonly beside: HeldWithoutOutput;
} {
  const service = serviceToHold(call.head, plan.model.pricing);
  const priced = termsOf(call, plan, service);
  const beside = besideToHold(call, plan, priced, countedTokens);
  const hold = holdFor(call.head, plan.model, priced, beside);
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
    snapshot: priceSnapshot(plan.model, plan.group.name, priced, service),
    prompt: hold.prompt.toString(),
    minimum: hold.minimum.toString(),
    base: hold.base.toString(),
    ceiling: hold.ceiling.toString(),
  };
  return { request, terms: priced, hold, beside };
}
