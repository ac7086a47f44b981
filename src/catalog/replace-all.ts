import type { Change, ChangedItem } from './changes.js';

/** A named object that stays stored when disabled. */
interface Stored {
  readonly id?: string;
  readonly name: string;
  readonly enabled: boolean;
}

/** How to apply definitions of one kind. */
interface Replacement<Definition, Before extends Stored> {
  readonly kind: ChangedItem['kind'];
  /** All objects of the kind, including disabled ones. */
  readonly stored: readonly Before[];
  /** Applies a definition and enables the object. Returns the changes. */
  readonly put: (definition: Definition, before: Before | undefined) => Promise<readonly Change[]>;
  readonly switchOff: (before: Before) => Promise<void>;
  /** Whether to disable an object without a definition. */
  readonly prune: (before: Before) => boolean;
}

/** Applies all definitions of one kind, whose names are unique. Returns the changes. */
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
