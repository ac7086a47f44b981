/** Only its origin is compared. */
const HERE = 'http://here.invalid';

/**
 * A path of ours, as a browser would resolve it, for where a form or an address says to go on; `fallback` for anything
 * that leads elsewhere.
 */
export function localPath(text: string | undefined, fallback = '/'): string {
  if (text === undefined || !text.startsWith('/') || !URL.canParse(text, HERE)) return fallback;
  const url = new URL(text, HERE);
  return url.origin === HERE && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}${url.hash}` : fallback;
}
