import { IsString, MaxLength, ValidateBy } from 'class-validator';
import { Text } from './typed.js';

const SENDER = /^(?:[^\p{Cc}<>]*<[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+>|[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+)?$/u;
const SERVER = 'Enter an address such as smtp://user@mail.example.com:587, or smtps:// for implicit TLS.';

/** The server that takes our mail, and the sender that it names. */
export class MailSection {
  /** `smtp://` or `smtps://` with a user or without, never with a password; empty: mail goes to the outbox folder. */
  @Text()
  @MaxLength(500, { message: SERVER })
  @ValidateBy({ name: 'isServer', validator: { validate: isServer } }, { message: SERVER })
  readonly server: string = '';

  /** The user's password as it is stored; empty: there is none. */
  @IsString()
  readonly sealedPassword: string = '';

  /** Empty: the site's name, at an address that nobody can answer. */
  @Text()
  @MaxLength(200, { message: 'Enter at most 200 characters.' })
  @ValidateBy(
    { name: 'isSender', validator: { validate: (value) => typeof value === 'string' && SENDER.test(value) } },
    { message: 'Enter an address such as relay@example.com or Name <relay@example.com>.' },
  )
  readonly from: string = '';
}

function isServer(value: unknown): boolean {
  if (value === '') return true;
  if (typeof value !== 'string' || !/^smtps?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { hostname, password, pathname, search, hash } = new URL(value);
  return hostname !== '' && password === '' && (pathname === '' || pathname === '/') && search === '' && hash === '';
}
