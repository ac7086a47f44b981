/** Where every snippet looks for the key. */
export const KEY_VARIABLE = 'SWITCHBOARD_API_KEY';

/** Reads the key interactively, so that it does not end up in the shell history. */
export const STORE_KEY = `read -rs ${KEY_VARIABLE} && export ${KEY_VARIABLE}`;

/** A word for a shell, whatever is in it. */
export const shellWord = (text: string): string => (/^[\w./:@=-]+$/.test(text) ? text : quotedForShell(text));

export const quotedForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A string of Python, JavaScript and TOML alike. */
export const literal = (text: string): string => JSON.stringify(text);
