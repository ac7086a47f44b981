import type { Lacks } from '../abilities.js';
import type { SharedAbility } from '../shared-abilities.js';

/** Abilities of a client half. */
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

/** Required abilities. */
type RequiredAbility =
  | 'head'
  | 'text'
  | 'streaming piece by piece'
  | 'invalid requests'
  | 'errors'
  | 'errors in streams'
  | 'refusals of the model'
  | 'words that are counted'
  | 'keep-alive';

/** Unsupported abilities with the reason. */
export type ClientLacks = Lacks<Exclude<ClientAbility, RequiredAbility>>;
