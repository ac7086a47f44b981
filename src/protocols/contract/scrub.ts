/** What a client is shown. */
const MAX_SHOWN_CHARACTERS = 2_000;
/** Read before scrubbing; what is cut off here is never shown, so nothing is shown in half. */
const MAX_READ_CHARACTERS = 2 * MAX_SHOWN_CHARACTERS;

/**
 * What must not reach a client in an upstream's message, most specific first. Host names are told from field paths
 * (`messages.0.content`) by their last label.
 */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"'<>)\]]+/gi, '[address]'],
  [/\bBearer\s+[^\s"',;]+/gi, '[credential]'],
  [/\b(?:sk|pk|rk|gsk|xai)[-_][A-Za-z0-9*_.-]{8,}/g, '[credential]'],
  [/\bAIza[A-Za-z0-9_-]{10,}/g, '[credential]'],
  [/\b(?:org|proj|wrkspc|acct)[-_][A-Za-z0-9*_-]{3,}/gi, '[organization]'],
  [/\barn:aws[\w-]*:\S+/g, '[resource]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '[address]'],
  [/\[(?=[^\]]*:[^\]]*:)[0-9a-f:.]{2,45}\](?::\d{1,5})?/gi, '[address]'],
  [/\blocalhost\b(?::\d{1,5})?/gi, '[address]'],
  [/\b[a-z][a-z0-9-]{1,62}:\d{4,5}\b/gi, '[address]'],
  [
    /\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|ai|dev|cloud|app|us|eu|cn|de|internal|local|svc|lan|test|example|invalid)(?::\d{1,5}|\b)(?:\/[^\s"'<>)\]]*)?/gi,
    '[address]',
  ],
];

/** An upstream's message without addresses, credentials and organisations, at most 2,000 characters. */
export function scrub(message: string): string {
  const clean = SECRETS.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    message.slice(0, MAX_READ_CHARACTERS),
  );
  return clean.slice(0, MAX_SHOWN_CHARACTERS).trim();
}
