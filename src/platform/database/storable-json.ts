/** The escapes that are JSON and yet nothing PostgreSQL would store: NUL, and either half of a surrogate pair. */
const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

/** JSON text as PostgreSQL takes it as `json` or `jsonb`: without NUL, and with U+FFFD for half a surrogate pair. */
export function storableJson(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(JSON.parse(text), (_name, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\ufffd') : value,
  );
}
