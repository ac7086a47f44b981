/** A field that must not be shown, because it may carry a secret: a change of it is told without its values. */
interface HiddenFact {
  readonly hidden: string;
}

/** What something consists of, by the names that the catalog file uses. Two that are equal here are the same thing. */
export type Facts = Readonly<Record<string, string | HiddenFact>>;

/** One line for each field that differs, `channel main: tier 1 → 2`; none when all are the same. */
export function describeChanges(subject: string, before: Facts, after: Facts): readonly string[] {
  return Object.entries(after).flatMap(([field, now]) => {
    const then = before[field] ?? '';
    if (plain(then) === plain(now)) return [];
    const hidden = typeof now !== 'string' || typeof then !== 'string';
    return [`${subject}: ${field} ${hidden ? 'changed' : `${shown(then)} → ${shown(now)}`}`];
  });
}

/** The same of something that may be new, or switched off so far. */
export function difference(
  subject: string,
  stored: { readonly enabled: boolean } | undefined,
  before: Facts | undefined,
  after: Facts,
): readonly string[] {
  if (stored === undefined || before === undefined) return [`${subject}: added`];
  return [...(stored.enabled ? [] : [`${subject}: switched on again`]), ...describeChanges(subject, before, after)];
}

/** Names in an order that does not depend on how they were written. */
export const listed = (names: readonly string[]): string => [...new Set(names)].toSorted().join(', ');

/** `a 1, b 2`, in the order of the names. */
export const sortedPairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.keys(values)
    .toSorted()
    .map((name) => (values[name] === true ? name : `${name} ${JSON.stringify(values[name])}`))
    .join(', ');

const plain = (fact: string | HiddenFact): string => (typeof fact === 'string' ? fact : fact.hidden);
const shown = (text: string): string => text || '(none)';
