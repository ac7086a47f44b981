// Which channel a call uses: health, cooldowns, load, and the choice among the remaining channels.
export { RoutingModule } from './routing.module.js';
export {
  type Affinity,
  affinityOf,
  NoChannel,
  type Prospect,
  Random,
  type UnavailableChannel,
} from './selection/channel-status.js';
export { Assignment, CallSelection } from './selection/call-selection.js';
export { ChannelSelection, type Excluded, type Exclusion, type ModelOutlook } from './selection/channel-selection.js';
export { CheckCalls, type CheckTarget } from './health/check-calls.js';
export { ChannelHealth } from './health/channel-health.js';
export { type Cooldown } from './health/cooldown.js';
