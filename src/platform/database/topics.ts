/** What processes tell and ask each other, in one place so that no two meet. Whoever sends says what the payload is. */
export const TOPICS = {
  /** A key was made or changed. */
  key: 'key',
  /** An account was enabled, disabled or deleted, or its group or limits changed. */
  account: 'account',
  /** The catalog has another version: its groups, models, prices or channels were changed. */
  catalog: 'catalog',
  /** A section of the settings was saved. */
  settings: 'settings',
  /** A channel or a credential of one is left alone, or called again. */
  rest: 'rest',
  /** A question: which of these variables does a server's environment lack? */
  environment: 'environment',
  /** A question: does the channel of this name answer? */
  probe: 'probe',
} as const;

/** The id in a message on `key` or `account`; an unreadable one names nothing. */
export function idIn(payload: unknown): string {
  const { id } = (payload ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : '';
}
