import { AsyncLocalStorage } from 'node:async_hooks';

/** Who changes something that is not their own. */
export type Actor =
  | { readonly kind: 'account'; readonly accountId: string; readonly name: string; readonly ip: string }
  | { readonly kind: 'command-line' }
  | { readonly kind: 'system' };

export const COMMAND_LINE: Actor = { kind: 'command-line' };
/** The program itself, of its own accord. */
export const SYSTEM: Actor = { kind: 'system' };

const acting = new AsyncLocalStorage<Actor>();

/**
 * Does a piece of work, all that follows from it included, in somebody's name. Who acts is known from around the work and
 * not handed through it, because services change the same things for operators and for the owners themselves.
 */
export const actingAs = <T>(actor: Actor, work: () => T): T => acting.run(actor, work);

/** In whose name this is done; undefined: in nobody's but the owner's own. */
export const currentActor = (): Actor | undefined => acting.getStore();

/** What an actor is called wherever a change is told of. */
export function nameOf(actor: Actor): string {
  switch (actor.kind) {
    case 'account':
      return actor.name;
    case 'command-line':
      return 'Command line';
    case 'system':
      return 'System';
    default:
      return actor satisfies never;
  }
}
