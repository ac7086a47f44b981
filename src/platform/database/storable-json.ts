/** Escapes that are valid JSON but that PostgreSQL rejects: NUL and lone surrogates. */
const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

/** JSON that PostgreSQL accepts as `json` or `jsonb`: NUL is removed, and lone surrogates become U+FFFD. */
export function storableJson(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(JSON.parse(text), (_name, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\ufffd') : value,
  );
}
