import type { Lacks } from '../abilities.js';
import type { SharedAbility } from '../shared-abilities.js';

/** Abilities of an upstream half. */
export type UpstreamAbility =
  | SharedAbility
  | 'settings'
  | 'files and sound'
  | 'framings and cuts'
  | 'early end'
  | 'errors in streams'
  | 'unreadable answers'
  | 'refusals by status'
  | 'any conversation'
  | 'no side effects'
  | 'smallest request'
  | 'limit of the smallest request'
  | 'list of models';

/** Required abilities. */
type RequiredAbility =
  | 'text'
  | 'streaming piece by piece'
  | 'settings'
  | 'files and sound'
  | 'framings and cuts'
  | 'early end'
  | 'errors in streams'
  | 'unreadable answers'
  | 'refusals by status'
  | 'any conversation'
  | 'no side effects'
  | 'smallest request';

/** Unsupported abilities with the reason. */
export type UpstreamLacks = Lacks<Exclude<UpstreamAbility, RequiredAbility>>;
