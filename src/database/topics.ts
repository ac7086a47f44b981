/** What processes tell and ask each other, in one place so that no two meet. Whoever sends says what the payload is. */
export const TOPICS = {
  /** A key was made or changed. */
  key: 'key',
  /** An account was switched on or off. */
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
