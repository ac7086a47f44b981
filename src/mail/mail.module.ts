import { Module } from '@nestjs/common';
import { chosenTransport } from './chosen-transport.js';
import { MailRetries } from './mail-retries.js';
import { Mailer } from './mailer.js';

@Module({ providers: [chosenTransport, MailRetries, Mailer], exports: [Mailer] })
export class MailModule {}
