import type { Lacks } from '../abilities.js';
import type { SharedAbility } from '../shared-abilities.js';

/** What a client half can be asked, and say. */
export type ClientAbility =
  | SharedAbility
  | 'head'
  | 'refusals of the model'
  | 'invalid requests'
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
  | 'invalid requests'
  | 'errors'
  | 'errors in streams'
  | 'refusals of the model'
  | 'words that are counted'
  | 'keep-alive';

/** What a dialect has no words for in its clients' requests, and in the answers to them, each with the reason. */
export type ClientLacks = Lacks<Exclude<ClientAbility, Indispensable>>;
