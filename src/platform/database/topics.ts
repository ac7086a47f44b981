/** Topics of messages between processes. The sender defines the payload. */
export const TOPICS = {
  /** A key was created or changed. */
  key: 'key',
  /** An account was enabled, disabled or deleted, or its group or limits changed. */
  account: 'account',
  /** A new catalog version: groups, models, prices or channels changed. */
  catalog: 'catalog',
  /** A section of the settings was saved. */
  settings: 'settings',
  /** A cooldown of a channel or credential began or ended. */
  rest: 'rest',
  /** Question: which of these variables are missing in a server's environment? */
  environment: 'environment',
  /** Question: does the channel with this name respond? */
  probe: 'probe',
} as const;

/** The ID in a message on `key` or `account`; empty if unreadable. */
export function idIn(payload: unknown): string {
  const { id } = (payload ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : '';
}
