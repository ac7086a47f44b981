import { isEmail } from 'class-validator';

/**
 * An address in the form it is stored and compared in: lower case, no blanks around it. ASCII only, because what
 * PostgreSQL and JavaScript take for lower case differs beyond it. Undefined when the text is no address.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return isEmail(email, { allow_utf8_local_part: false }) ? email : undefined;
}
