import type { Lacks } from '../abilities.js';

/** What an upstream half can be asked for, and hear. */
export type UpstreamAbility =
  | 'text'
  | 'system text'
  | 'streaming piece by piece'
  | 'tools'
  | 'several calls in one turn'
  | 'choice of tools'
  | 'choice of one tool'
  | 'one call at a time'
  | 'results of tools'
  | 'images'
  | 'images in results'
  | 'reasoning shown'
  | 'reasoning given back'
  | 'JSON of a schema'
  | 'stop texts'
  | 'output limit'
  | 'settings'
  | 'files and sound'
  | 'usage'
  | 'usage of cached tokens'
  | 'usage of reasoning tokens'
  | 'stops'
  | 'empty answer'
  | 'framings and cuts'
  | 'early end'
  | 'errors in streams'
  | 'unreadable answers'
  | 'refusals by status'
  | 'any conversation'
  | 'no side effects'
  | 'smallest request'
  | 'limit of the smallest request';

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
