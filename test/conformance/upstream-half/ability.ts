import type { Lacks } from '../abilities.js';
import type { SharedAbility } from '../shared-abilities.js';

/** What an upstream half can be asked for, and hear. */
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

/** What an upstream half cannot do without. */
type Indispensable =
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

/** What a dialect has no words for in its vendors' requests, and in their answers, each with the reason. */
export type UpstreamLacks = Lacks<Exclude<UpstreamAbility, Indispensable>>;
