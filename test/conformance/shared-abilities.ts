/** Abilities of both halves. */

/** In responses. */
export type ResponseAbility =
  | 'text'
  | 'streaming piece by piece'
  | 'tools'
  | 'several calls in one turn'
  | 'usage'
  | 'usage of cached tokens'
  | 'usage of reasoning tokens'
  | 'stops'
  | 'empty answer';

/** In requests. */
export type RequestAbility =
  | 'system text'
  | 'choice of tools'
  | 'choice of one tool'
  | 'one call at a time'
  | 'results of tools'
  | 'images'
  | 'images in results'
  | 'JSON of a schema'
  | 'stop texts'
  | 'output limit';

export type ReasoningAbility = 'reasoning shown' | 'reasoning given back';

export type SharedAbility = ResponseAbility | RequestAbility | ReasoningAbility;
