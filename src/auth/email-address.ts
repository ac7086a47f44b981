import { isEmail } from 'class-validator';

/**
 * An address in the form it is stored and compared in: lower case, no blanks around it. ASCII only, because what
 * PostgreSQL and JavaScript take for lower case differs beyond it; nothing in quotes, which nobody has and few programs
 * read alike. Undefined when the text is no address.
 */
export function normalizeEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  const isPlain = isEmail(email, { allow_utf8_local_part: false }) && !/["\\]/.test(email);
  return isPlain ? email : undefined;
}

/** Providers that leave out dots: all spellings are one mailbox. */
const WITHOUT_DOTS: readonly string[] = ['gmail.com', 'googlemail.com'];

/**
 * A normalised address in the form in which the spellings of one mailbox are alike: without `+tag`, and without dots
 * where they mean nothing. For what is given once to a person; accounts are told apart by the address itself.
 */
export function alikeForm(email: string): string {
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at).replace(/(?<=.)\+.*$/, ''), email.slice(at + 1)];
  return WITHOUT_DOTS.includes(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
}
