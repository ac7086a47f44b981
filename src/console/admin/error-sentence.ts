/** Catalog file messages that refer to file syntax, reworded for forms. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  'is missing: add at least one, or set `auth: none`': 'Enter a credential, or choose “No credential”.',
  'must be empty with `auth: none`':
    '“No credential” allows no credentials. Remove them, or choose another authentication.',
};

const UNKNOWN = /^refers to the (model|group) "([^"]*)"/;
const WHERE: Readonly<Record<string, string>> = { model: 'Models & prices', group: 'Groups' };

/** A catalog file error as the error of a form field. */
export function errorSentence(label: string, message: string): string {
  const [, kind, unknown] = UNKNOWN.exec(message) ?? [];
  if (kind !== undefined)
    return `The ${kind} “${unknown ?? ''}” does not exist. Add it under ${WHERE[kind] ?? ''} first, or remove it here.`;
  return OWN_WORDS[message] ?? `${label} ${message}.`;
}
