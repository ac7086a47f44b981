/** Something that is stored under a name, and stays stored when it is switched off. */
interface Stored {
  readonly name: string;
  readonly enabled: boolean;
}

/** How things of one kind are made to be as defined. */
interface Replacement<Definition, Before extends Stored> {
  /** Reads before a name: `group`. */
  readonly kind: string;
  /** All of the kind, those that are switched off too. */
  readonly stored: readonly Before[];
  /** Makes one be as defined, and switched on. Returns a line for each change. */
  readonly put: (definition: Definition, before: Before | undefined) => Promise<readonly string[]>;
  readonly switchOff: (before: Before) => Promise<void>;
  /** Whether one that is not defined is switched off. */
  readonly prune: (before: Before) => boolean;
}

/** Makes everything of one kind be as defined; names are unique among definitions. Returns a line for each change. */
export async function replaceAll<Definition extends { readonly name: string }, Before extends Stored>(
  definitions: readonly Definition[],
  { kind, stored, put, switchOff, prune }: Replacement<Definition, Before>,
): Promise<string[]> {
  const left = new Map(stored.map((before) => [before.name, before]));
  const changes: string[] = [];
  for (const definition of definitions) {
    changes.push(...(await put(definition, left.get(definition.name))));
    left.delete(definition.name);
  }
  for (const before of [...left.values()].filter((entry) => entry.enabled && prune(entry))) {
    await switchOff(before);
    changes.push(`${kind} ${before.name}: switched off`);
  }
  return changes;
}
