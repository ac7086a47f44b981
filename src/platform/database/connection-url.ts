import { DatabaseUnusable } from './database.errors.js';

/** Sessions are named `switchboard <pid> <role>`; the embedded server's last user is found by it. */
export const APPLICATION_PREFIX = 'switchboard';

export const applicationName = (role: string): string => `${APPLICATION_PREFIX} ${process.pid} ${role}`;

/**
 * Adds the session name for `pg_stat_activity` to the URL itself, because the driver prefers the URL's parameters over
 * its options.
 * @throws DatabaseUnusable when the text is not a URL
 */
export function withRole(url: string, role: string): string {
  if (!URL.canParse(url))
    throw new DatabaseUnusable('DATABASE_URL must have the form postgres://user:password@host:5432/name.');
  const address = new URL(url);
  address.searchParams.set('application_name', applicationName(role));
  return address.href;
}
