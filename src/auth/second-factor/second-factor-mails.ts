import { Injectable } from '@nestjs/common';
import { Mailer } from '../../platform/mail/index.js';
import { AccountRepository } from '../account.repository.js';
import type { Wording } from '../mails/mail-text.js';
import { MailWriter } from '../mails/mail-writer.js';

/** Tells an account's owner by mail what became of its second factor: whoever did it may be somebody else. The button leads to another password. */
@Injectable()
export class SecondFactorMails {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly writer: MailWriter,
    private readonly mailer: Mailer,
  ) {}

  async tell(accountId: string, wording: Wording): Promise<void> {
    const account = await this.accounts.byId(accountId);
    if (account !== null) this.mailer.send(this.writer.write(account.email, wording, { path: '/forgot' }));
  }
}
