import {
  type Call,
  type CallHead,
  type ProtocolId,
  type RequestDemands,
  type TokenUsage,
  DEFAULT_SERVICE_TIERS,
} from '../../protocols/contract/index.js';
import type { CatalogModel, Pricing } from '../../catalog/index.js';
import { AppError } from '../../platform/shared/index.js';

// Price multipliers of the requested service: tier, speed and inference region.

/** A name and its multiplier in millionths. */
export interface ServiceTier {
  /** Empty for the default. */
  readonly name: string;
  readonly multiplier: bigint;
}

/** The service a call is priced in. */
export interface Service {
  readonly tier: ServiceTier;
  readonly speed: ServiceTier;
  readonly geo: ServiceTier;
}

const DEFAULT: ServiceTier = { name: '', multiplier: 1_000_000n };
const DEFAULT_SERVICE: Service = { tier: DEFAULT, speed: DEFAULT, geo: DEFAULT };
const DEFAULT_SPEEDS: readonly string[] = ['standard'];
const DEFAULT_GEOS: readonly string[] = ['global'];
/** The hosted tool whose tokens may be priced instead of its uses. */
export const IMAGE_TOOL = 'image_generation';

/**
 * Rejects service tiers, speeds, regions and tools without a price.
 * @param models the requested model, then others named by the request
 * @throws AppError invalid_request
 */
export function requirePrices(head: CallHead, models: readonly CatalogModel[]): void {
  for (const model of models) {
    requirePricedTier(head, model);
    if (head.demands !== undefined) requirePricedDemands(head.demands, model);
  }
}

function requirePricedTier({ serviceTier }: CallHead, { name, pricing }: CatalogModel): void {
  if (serviceTier === undefined || DEFAULT_SERVICE_TIERS.includes(serviceTier)) return;
  if (pricing.serviceTiers.has(serviceTier)) return;
  const offered = ['auto', 'default', ...pricing.serviceTiers.keys()].join(', ');
  throw unpriced(
    'service_tier',
    `the model "${name}" is not offered in service tier ${quoted(serviceTier)}. Use one of ${offered}, or omit it.`,
  );
}

function requirePricedDemands(demands: RequestDemands, { name, pricing }: CatalogModel): void {
  const { speed, geo } = demands;
  if (speed !== undefined && !DEFAULT_SPEEDS.includes(speed) && !pricing.speeds.has(speed)) {
    const offered = [...DEFAULT_SPEEDS, ...pricing.speeds.keys()].join(', ');
    const message = `the model "${name}" is not offered at speed ${quoted(speed)}. Use one of ${offered}, or omit it.`;
    throw unpriced('speed', message);
  }
  if (geo !== undefined && !DEFAULT_GEOS.includes(geo) && !pricing.geos.has(geo)) {
    const offered = [...DEFAULT_GEOS, ...pricing.geos.keys()].join(', ');
    const message = `the model "${name}" is not offered in region ${quoted(geo)}. Use one of ${offered}, or omit it.`;
    throw unpriced('inference_geo', message);
  }
}

/**
 * Why a channel that runs hosted tools cannot serve the request: a tool has no fee. Undefined if all have one, even 0.
 */
export function unpricedTool({ demands }: CallHead, models: readonly CatalogModel[]): AppError | undefined {
  if (demands === undefined || demands.hostedTools.length === 0) return undefined;
  for (const { name, pricing } of models) {
    const tool = demands.hostedTools.find((hosted) => !isPriced(hosted.name, pricing));
    if (tool === undefined || isHelperAlone(name, demands)) continue;
    const message = `the model "${name}" is not offered with the tool ${quoted(tool.name)}. Remove the tool.`;
    return unpriced(tool.path, message);
  }
  return undefined;
}

/** Helpers only advise: tools run for the main models. */
function isHelperAlone(model: string, { models }: RequestDemands): boolean {
  const roles = models.filter(({ name }) => name === model).map(({ role }) => role);
  return roles.length > 0 && roles.every((role) => role === 'helper');
}

const isPriced = (tool: string, { toolFees, imageGeneration }: Pricing): boolean =>
  toolFees.has(tool) || (tool === IMAGE_TOOL && imageGeneration !== undefined);

const quoted = (value: string): string => JSON.stringify(value.slice(0, 64));

const unpriced = (param: string, message: string): AppError =>
  new AppError('invalid_request', `${param}: ${message}`, { param, fault: 'invalid_value' });

/**
 * Requested from an upstream: translated requests carry no speed or region, and no tier if the protocol has none.
 */
export function headSent(
  { head, protocol }: Pick<Call, 'head' | 'protocol'>,
  upstream: { readonly protocol: ProtocolId; readonly isTierLeftOut?: boolean } | undefined,
): CallHead {
  if (upstream === undefined || upstream.protocol === protocol) return head;
  const { demands } = head;
  return {
    ...head,
    ...(upstream.isTierLeftOut === true && { serviceTier: 'default' }),
    ...(demands !== undefined && { demands: { ...demands, speed: undefined, geo: undefined } }),
  };
}

/** A requested value, and whether the upstream chooses instead. */
interface TierChoice {
  readonly requested: string | undefined;
  readonly isOpen: boolean;
}

const requestedTier = ({ serviceTier }: CallHead): TierChoice => ({
  requested: serviceTier,
  isOpen: serviceTier === undefined || serviceTier === 'auto',
});

/** Upstreams never choose a higher speed. */
const requestedSpeed = ({ demands }: CallHead): TierChoice => ({ requested: demands?.speed, isOpen: false });

/** Without a requested region, the upstream account's default applies. */
const requestedGeo = ({ demands }: CallHead): TierChoice => ({
  requested: demands?.geo,
  isOpen: demands?.geo === undefined,
});

/** Most models have a single service, whatever is requested or reported. */
const hasOneService = ({ serviceTiers, speeds, geos }: Pricing): boolean =>
  serviceTiers.size + speeds.size + geos.size === 0;

/** The service to hold money for: the requested one, or the most expensive one where the upstream chooses. */
export function serviceToHold(head: CallHead, pricing: Pricing): Service {
  if (hasOneService(pricing)) return DEFAULT_SERVICE;
  return {
    tier: toHold(requestedTier(head), pricing.serviceTiers),
    speed: toHold(requestedSpeed(head), pricing.speeds),
    geo: toHold(requestedGeo(head), pricing.geos),
  };
}

/**
 * The service to charge: the one that the response reports, or the requested one if it reports none. Never more than
 * was requested, whatever the response reports.
 */
export function serviceToCharge(head: CallHead, usage: TokenUsage, pricing: Pricing): Service {
  if (hasOneService(pricing)) return DEFAULT_SERVICE;
  return {
    tier: toCharge(requestedTier(head), usage.serviceTier, pricing.serviceTiers),
    speed: toCharge(requestedSpeed(head), usage.speed, pricing.speeds),
    geo: toCharge(requestedGeo(head), usage.geo, pricing.geos),
  };
}

/** The service that the upstream bills: the one that the response reports, or the requested one. */
export function serviceReported(head: CallHead, usage: TokenUsage, pricing: Pricing): Service {
  if (hasOneService(pricing)) return DEFAULT_SERVICE;
  const { serviceTier, demands } = head;
  return {
    tier: named(usage.serviceTier ?? serviceTier, pricing.serviceTiers),
    speed: named(usage.speed ?? demands?.speed, pricing.speeds),
    geo: named(usage.geo ?? demands?.geo, pricing.geos),
  };
}

function toHold({ requested, isOpen }: TierChoice, multipliers: ReadonlyMap<string, bigint>): ServiceTier {
  if (multipliers.size === 0) return DEFAULT;
  if (!isOpen) return named(requested, multipliers);
  let dearest = DEFAULT;
  for (const [name, multiplier] of multipliers) if (multiplier > dearest.multiplier) dearest = { name, multiplier };
  return dearest;
}

function toCharge(
  { requested, isOpen }: TierChoice,
  reported: string | undefined,
  multipliers: ReadonlyMap<string, bigint>,
): ServiceTier {
  if (multipliers.size === 0) return DEFAULT;
  const demanded = named(requested, multipliers);
  if (reported === undefined) return demanded;
  const given = named(reported, multipliers);
  return isOpen || given.multiplier <= demanded.multiplier ? given : demanded;
}

function named(name: string | undefined, multipliers: ReadonlyMap<string, bigint>): ServiceTier {
  const multiplier = name === undefined ? undefined : multipliers.get(name);
  return name === undefined || multiplier === undefined ? DEFAULT : { name, multiplier };
}
