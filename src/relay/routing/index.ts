// Which channel a call uses: health, cooldowns, load, and the choice among the remaining channels.
export { RoutingModule } from './routing.module.js';
export { type Affinity, affinityOf } from './selection/weighted-draw.js';
export { CallSelection, type ResponseOrigin } from './selection/call-selection.js';
export { Assignment } from './selection/assignment.js';
export { ChannelSelection, type ModelOutlook } from './selection/channel-selection.js';
export { type Prospect } from './selection/outlook.js';
export { NoChannel } from './selection/shortage.js';
export { Random } from './random.js';
export { CheckCalls, type CheckTarget } from './health/check-calls.js';
export { ChannelHealth } from './health/channel-health.js';
export { type Cooldown } from './health/cooldown.js';
export { type Excluded, type Exclusion } from './selection/exclusion.js';
export { type UnavailableChannel } from './selection/channel-status.js';
