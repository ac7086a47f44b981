import { type CallHead, type TokenUsage, USUAL_SERVICE_TIERS } from '../call/index.js';
import type { CatalogModel, Pricing } from '../catalog/index.js';
import { AppError } from '../shared/index.js';

/** The service tier that a call is billed in, and what its price is multiplied by for it, in millionths. */
export interface ServiceTier {
  /** Empty for the usual one. */
  readonly name: string;
  readonly multiplier: bigint;
}

const USUAL: ServiceTier = { name: '', multiplier: 1_000_000n };

/** @throws AppError invalid_request when the call asks for a tier that the model has no price for */
export function requirePricedTier({ serviceTier }: CallHead, { name, pricing }: CatalogModel): void {
  if (serviceTier === undefined || USUAL_SERVICE_TIERS.includes(serviceTier)) return;
  if (pricing.serviceTiers.has(serviceTier)) return;
  const offered = ['auto', 'default', ...pricing.serviceTiers.keys()].join(', ');
  throw new AppError(
    'invalid_request',
    `service_tier: the model "${name}" is not offered in the tier ${JSON.stringify(serviceTier.slice(0, 64))}; use one of ${offered}, or leave it out.`,
    { param: 'service_tier', fault: 'invalid_value' },
  );
}

/** The tier to hold money for: the one asked for; the dearest of all when that is the upstream's to choose. */
export function tierToHold({ serviceTier }: CallHead, { serviceTiers }: Pricing): ServiceTier {
  if (serviceTiers.size === 0) return USUAL;
  if (serviceTier !== undefined && serviceTier !== 'auto') return tierNamed(serviceTier, serviceTiers);
  let dearest = USUAL;
  for (const [name, multiplier] of serviceTiers) if (multiplier > dearest.multiplier) dearest = { name, multiplier };
  return dearest;
}

/**
 * The tier to charge: the one that the answer reports, and where it reports none the one asked for. Nobody who asked
 * for a tier pays more than its price, whatever the answer reports.
 */
export function tierToCharge({ serviceTier }: CallHead, usage: TokenUsage, { serviceTiers }: Pricing): ServiceTier {
  if (serviceTiers.size === 0) return USUAL;
  const asked = tierNamed(serviceTier, serviceTiers);
  if (usage.serviceTier === undefined) return asked;
  const given = tierNamed(usage.serviceTier, serviceTiers);
  const open = serviceTier === undefined || serviceTier === 'auto';
  return open || given.multiplier <= asked.multiplier ? given : asked;
}

/** The tier that the answer reports, else the one asked for: what the upstream charges by, whoever pays for it. */
export const tierAnswered = ({ serviceTier }: CallHead, usage: TokenUsage, { serviceTiers }: Pricing): ServiceTier =>
  serviceTiers.size === 0 ? USUAL : tierNamed(usage.serviceTier ?? serviceTier, serviceTiers);

function tierNamed(name: string | undefined, tiers: ReadonlyMap<string, bigint>): ServiceTier {
  const multiplier = name === undefined ? undefined : tiers.get(name);
  return name === undefined || multiplier === undefined ? USUAL : { name, multiplier };
}
