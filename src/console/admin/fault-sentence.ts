/** What the catalog file says in its own words, which mean nothing on a page. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  'is missing: give at least one, or say `auth: none`': 'Enter a credential, or choose “No credential”.',
  'must be empty with `auth: none`': 'With “No credential” there must be none: remove it, or choose where it goes.',
};

const UNKNOWN = /^names the (model|group) "([^"]*)"/;
const WHERE: Readonly<Record<string, string>> = { model: 'Models & prices', group: 'Groups' };

/** What is wrong with an entry of the catalog file, as a form says it of one of its fields. */
export function faultSentence(label: string, message: string): string {
  const [, kind, unknown] = UNKNOWN.exec(message) ?? [];
  if (kind !== undefined)
    return `There is no ${kind} “${unknown ?? ''}” yet: add it under ${WHERE[kind] ?? ''} first, or leave it out.`;
  return OWN_WORDS[message] ?? `${label} ${message}.`;
}
