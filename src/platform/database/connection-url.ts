import { DatabaseUnusable } from './database.errors.js';

/** Sessions are named `switchboard <pid> <role>`; the embedded server's last user is found by it. */
export const APPLICATION_PREFIX = 'switchboard';

export const applicationName = (role: string): string => `${APPLICATION_PREFIX} ${process.pid} ${role}`;

/** Scheme and credentials, hosts, the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/;

/**
 * One URL for each host: as libpq does, `DATABASE_URL` may name several, separated by commas, each with its port.
 * @throws DatabaseUnusable when the text is not a URL
 */
export function hostUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = PARTS.exec(url) ?? [];
  const list = hosts.split(',');
  const urls = list.map((host) => `${before}${host}${after}`);
  if (!urls.every((each) => URL.canParse(each)) || (list.length > 1 && list.includes('')))
    throw new DatabaseUnusable(
      'DATABASE_URL must have the form postgres://user:password@host:5432/name, with further hosts after commas.',
    );
  return urls;
}

/**
 * Adds the session name for `pg_stat_activity` to the URL itself, because the driver prefers the URL's parameters over
 * its options.
 * @throws DatabaseUnusable when the text is not a URL
 */
export function withRole(url: string, role: string): string {
  const [first = '', ...others] = hostUrls(url);
  const address = new URL(first);
  address.searchParams.set('application_name', applicationName(role));
  if (others.length === 0) return address.href;
  const [, before = '', hosts = ''] = PARTS.exec(url) ?? [];
  return `${before}${hosts}${address.pathname}${address.search}`;
}
