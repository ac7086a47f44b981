// The scenarios by name, in the order of a run: what compares subjects round by round, then what looks inside them.

export const COMPARED_SCENARIO_NAMES = [
  'small-1',
  'small-16',
  'small-64',
  'prompt',
  'stream',
  'translated',
  'paced-200',
  'paced-400',
  'paced-1000',
  'overload',
] as const;
export const RELAY_SCENARIO_NAMES = [
  'idle-streams',
  'slow-readers',
  'unknown-keys',
  'large-prompts',
  'workers',
  'log-pages',
  'full-log',
] as const;
/** What `peers` compares gateways by. */
export const PEER_NAMES: readonly string[] = ['small-64', 'prompt', 'paced-200', 'overload'];
/** Those that first fill a log, for minutes and with gigabytes: they run when they are named, and not with all others. */
export const LARGE_NAMES: readonly string[] = ['log-pages', 'full-log'];

export type ComparedScenarioName = (typeof COMPARED_SCENARIO_NAMES)[number];
export type RelayScenarioName = (typeof RELAY_SCENARIO_NAMES)[number];

export const SCENARIO_NAMES: readonly string[] = [...COMPARED_SCENARIO_NAMES, ...RELAY_SCENARIO_NAMES];
