import { DiscoveryService } from '@nestjs/core';

/** Marks a provider as the client half of a protocol (`ProtocolAdapter`), discovered at startup. */
export const Protocol = DiscoveryService.createDecorator();

/** Marks a provider as the upstream half of a protocol (`UpstreamAdapter`), discovered at startup. */
export const Upstream = DiscoveryService.createDecorator();
