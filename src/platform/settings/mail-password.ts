import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { Secret, SealingKey } from '../shared/index.js';
import type { MailSection } from './sections/mail-section.js';
import { InvalidSettings } from './settings.errors.js';

const PURPOSE = 'switchboard settings v1';

/**
 * The password of the mail server, sealed for the database. It opens only beside the address it was entered for: whoever
 * can change that one cannot have it sent elsewhere.
 */
@Injectable()
export class MailPassword {
  private readonly key: SealingKey;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
  }

  /**
   * The password that was typed for a server, sealed; nothing typed keeps the one of the same address. Empty: there is none.
   * @throws InvalidSettings when address and password do not go together
   */
  sealed({ server }: MailSection, typed: string, before: MailSection): string {
    if (userOf(server) === '') {
      if (typed === '') return '';
      throw new InvalidSettings({ server: 'Include the user name: smtp://user@mail.example.com:587.' });
    }
    if (typed !== '') return this.key.seal(new Secret(typed), placeOf(server));
    if (server !== before.server || before.sealedPassword === '')
      throw new InvalidSettings({
        serverPassword: 'Enter the password for this user. A stored password is only used with its original address.',
      });
    return before.sealedPassword;
  }

  /** The whole address, as SMTP_URL has it. @throws UnreadableSecret */
  addressOf({ server, sealedPassword }: MailSection): Secret {
    if (sealedPassword === '') return new Secret(server);
    const url = new URL(server);
    url.password = encodeURIComponent(this.key.open(sealedPassword, placeOf(server)).reveal());
    return new Secret(url.href);
  }
}

const userOf = (server: string): string => (server === '' ? '' : new URL(server).username);

const placeOf = (server: string): string => `mail\n${server}`;
