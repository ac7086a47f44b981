// Which channel a call uses: health, cooldowns, load, and the choice among the remaining channels.
export { RoutingModule } from './routing.module.js';
export {
  type Affinity,
  affinityOf,
  type Excluded,
  type Exclusion,
  NoChannel,
  type Prospect,
  Random,
  type UnavailableChannel,
} from './selection/channel-status.js';
export { Assignment, CallSelection, ChannelSelection, type ModelOutlook } from './selection/call-selection.js';
export { CheckCalls, type CheckTarget } from './health/check-calls.js';
export type { Cooldown } from './health/cooldown.js';
export { ChannelHealth } from './health/channel-health.js';
