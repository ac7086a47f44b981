import { DatabaseUnusable } from './database.errors.js';

/** Every session of ours is named `switchboard <pid> <role>`; the embedded server's last user is told by it. */
export const APPLICATION_PREFIX = 'switchboard';

export const applicationName = (role: string): string => `${APPLICATION_PREFIX} ${process.pid} ${role}`;

/**
 * The address with the name that its sessions carry in `pg_stat_activity`. It must stand in the address itself, because
 * what the driver finds there overrides its other options.
 * @throws DatabaseUnusable when the text is no address
 */
export function withRole(url: string, role: string): string {
  if (!URL.canParse(url))
    throw new DatabaseUnusable('DATABASE_URL must have the form postgres://user:password@host:5432/name.');
  const address = new URL(url);
  address.searchParams.set('application_name', applicationName(role));
  return address.href;
}
