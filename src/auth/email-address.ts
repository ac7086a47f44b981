import { isEmail } from 'class-validator';

/**
 * Normalizes an address for storage and comparison: lower case, trimmed. ASCII only, because PostgreSQL and JavaScript
 * disagree on lower case beyond it; no quoted local parts. Undefined if it is not an address.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  const isPlain = isEmail(email, { allow_utf8_local_part: false }) && !/["\\]/.test(email);
  return isPlain ? email : undefined;
}

/** Providers that ignore dots. */
const WITHOUT_DOTS: readonly string[] = ['gmail.com', 'googlemail.com'];

/**
 * Maps all spellings of one mailbox to one form: without `+tag`, and without dots where they have no meaning. For
 * benefits given once per person; accounts are distinguished by the address itself.
 */
export function alikeForm(email: string): string {
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at).replace(/(?<=.)\+.*$/, ''), email.slice(at + 1)];
  return WITHOUT_DOTS.includes(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
}
