/** Splits the password off an SMTP URL. */
export function withoutPassword(address: string): { readonly server: string; readonly password: string } {
  if (!URL.canParse(address)) return { server: address, password: '' };
  const url = new URL(address);
  if (url.password === '') return { server: address, password: '' };
  const password = decoded(url.password);
  url.password = '';
  return { server: url.href, password };
}

function decoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // A literal percent sign.
    return encoded;
  }
}

/** Empty, or an SMTP URL without a password. */
export function isServer(address: string): boolean {
  if (address === '') return true;
  if (!/^smtps?:\/\//i.test(address) || !URL.canParse(address)) return false;
  const { hostname, password, pathname, search, hash } = new URL(address);
  return hostname !== '' && password === '' && (pathname === '' || pathname === '/') && search === '' && hash === '';
}

/** Empty if there is none. */
export const userOf = (server: unknown): string =>
  typeof server === 'string' && URL.canParse(server) ? new URL(server).username : '';
