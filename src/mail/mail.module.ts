import { Module } from '@nestjs/common';
import { MailRetries } from './mail-retries.js';
import { Mailer } from './mailer.js';
import { mailTransport } from './mail-transport.js';

@Module({ providers: [mailTransport, MailRetries, Mailer], exports: [Mailer] })
export class MailModule {}
