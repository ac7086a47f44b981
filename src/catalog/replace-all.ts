import type { Change, Subject } from './changes.js';

/** Something that is stored under a name, and stays stored when it is switched off. */
interface Stored {
  readonly id?: string;
  readonly name: string;
  readonly enabled: boolean;
}

/** How things of one kind are made to be as defined. */
interface Replacement<Definition, Before extends Stored> {
  readonly kind: Subject['kind'];
  /** All of the kind, those that are switched off too. */
  readonly stored: readonly Before[];
  /** Makes one be as defined, and switched on. Returns what became different. */
  readonly put: (definition: Definition, before: Before | undefined) => Promise<readonly Change[]>;
  readonly switchOff: (before: Before) => Promise<void>;
  /** Whether one that is not defined is switched off. */
  readonly prune: (before: Before) => boolean;
}

/** Makes everything of one kind be as defined; names are unique among definitions. Returns what became different. */
export async function replaceAll<Definition extends { readonly name: string }, Before extends Stored>(
  definitions: readonly Definition[],
  { kind, stored, put, switchOff, prune }: Replacement<Definition, Before>,
): Promise<Change[]> {
  const left = new Map(stored.map((before) => [before.name, before]));
  const changes: Change[] = [];
  for (const definition of definitions) {
    changes.push(...(await put(definition, left.get(definition.name))));
    left.delete(definition.name);
  }
  for (const before of [...left.values()].filter((entry) => entry.enabled && prune(entry))) {
    await switchOff(before);
    const { id, name } = before;
    changes.push({ subject: { kind, name, ...(id !== undefined && { id }) }, text: 'disabled' });
  }
  return changes;
}
