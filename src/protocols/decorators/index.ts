// Mark a provider as an adapter, found at startup.
import { DiscoveryService } from '@nestjs/core';

/** Marks a provider as the client half of a dialect: a `ProtocolAdapter`, found when the program starts. */
export const Protocol = DiscoveryService.createDecorator();

/** Marks a provider as the upstream half of a dialect: an `UpstreamAdapter`, found when the program starts. */
export const Upstream = DiscoveryService.createDecorator();
