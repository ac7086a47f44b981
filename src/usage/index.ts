// The record of finished calls: its export as CSV and the partitions it is written to. Does not own the
// rows themselves: settlement writes them. Reads accounts and keys for the names that stand in the export; owns neither.
export { UsageExport, type UsageSelection } from './usage-export.js';
export { UsageModule } from './usage.module.js';
