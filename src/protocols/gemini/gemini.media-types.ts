/** Of what can be shown to a model, by the ending of its address. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
]);

/** The media type of what lies at an address, which other dialects do not name; undefined leaves it to whoever fetches it. */
export function typeOfAddress(url: string): string | undefined {
  const [path = ''] = url.split(/[?#]/, 1);
  return TYPES.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}
