import type { Lacks } from '../abilities.js';

/** What a client half can be asked, and say. */
export type ClientAbility =
  | 'head'
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
  | 'usage'
  | 'usage of cached tokens'
  | 'usage of reasoning tokens'
  | 'stops'
  | 'empty answer'
  | 'refusals of the model'
  | 'odd requests'
  | 'errors'
  | 'errors in streams'
  | 'limits in headers'
  | 'lists of models'
  | 'words that are counted'
  | 'keep-alive';

/** What a client half cannot do without. */
type Indispensable =
  | 'head'
  | 'text'
  | 'streaming piece by piece'
  | 'odd requests'
  | 'errors'
  | 'errors in streams'
  | 'refusals of the model'
  | 'words that are counted'
  | 'keep-alive';

/** What a dialect has no words for in its clients' requests, and in the answers to them, each with the reason. */
export type ClientLacks = Lacks<Exclude<ClientAbility, Indispensable>>;
