// How much may be asked for in a minute and at the same time, by a key, an account, a group or an address, and the counts
// of it that all processes share. Does not own who has which limits (keys, auth, catalog), nor when they are asked (relay).
export { LimitNotPossible } from './limit.errors.js';
export { LimitColumns, limitColumns, limitsIn } from './limit-columns.js';
export { describeLimits, LARGEST_LIMIT, renderLimits } from './limit-names.js';
export {
  changedLimits,
  LIMITED,
  type Limited,
  type Limits,
  type LimitsChange,
  NO_LIMITS,
  NO_USUAL_LIMITS,
  ownElseUsual,
  USUALLY_LIMITED,
  type UsualLimits,
} from './limits.js';
export { CallCounts } from './call-counts.js';
export { LimitsModule } from './limits.module.js';
export { RateLimited } from './rate-limited.js';
export { type Permit, RateLimiter } from './rate-limiter.js';
export { serveLimits } from './serve-limits.js';
export { type Demand, isUnlimited, type Subject } from './subject.js';
export { type LimitStanding, type LimitStandings } from './limit-standings.js';
