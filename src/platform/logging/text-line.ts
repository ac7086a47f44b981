/** Values that are readable without quotes; others are printed as JSON strings. */
const PLAIN = /^[\w.:/@+#%-]+$/;
/** Control and formatting characters, which a terminal would interpret instead of showing them. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Renders one JSON log line for a terminal: time, level, message, then the other fields as `key=value`. Fields that are
 * null are left out; the stack of an error follows on indented lines.
 * @param line a JSON object with a line feed, as pino writes it
 */
export function renderTextLine(line: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const { stack, ...error } = isRecord(err) ? err : {};
  const head = [time, typeof level === 'string' && level.toUpperCase().padEnd(5), msg].filter(Boolean).map(printable);
  const pairs = Object.entries({ ...fields, ...prefixed('err', error) })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${printable(name)}=${valueText(value)}`);
  return `${[...head, ...pairs].join(' ')}\n${stackText(stack)}`;
}

/** `code` of `err` becomes `err.code`. */
const prefixed = (prefix: string, members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${prefix}.${name}`, value]));

function valueText(value: unknown): string {
  const text = typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
  return printable(text);
}

/** The first line of a stack repeats the error's type and message, which are fields. */
function stackText(stack: unknown): string {
  if (typeof stack !== 'string') return '';
  const frames = stack.split('\n').filter((frame) => /^\s+at /.test(frame));
  return frames.map((frame) => `    ${printable(frame.trim())}\n`).join('');
}

const printable = (value: unknown): string =>
  String(value).replaceAll(
    UNPRINTABLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`,
  );

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
