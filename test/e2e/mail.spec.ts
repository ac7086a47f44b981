import type { TestingModule } from '@nestjs/testing';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { DataSource } from 'typeorm';
import { Config, ConfigModule } from '../../src/platform/config/index.js';
import { DatabaseModule } from '../../src/platform/database/index.js';
import { type Mail, Mailer, MailModule } from '../../src/platform/mail/index.js';
import { MailRetries } from '../../src/platform/mail/mailer.js';
import { Settings, SettingsEditor, SettingsModule } from '../../src/platform/settings/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { addressedTo, Mailbox } from '../support/mailbox.js';
import { testingModule } from '../support/modules.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

const mail = (changes: Partial<Mail> = {}): Mail => ({
  to: 'ann@example.com',
  subject: 'Grüße, and “quotes”',
  html: '<p>An <b>HTML</b> part</p>',
  text: 'A text part.',
  ...changes,
});

describe('mail', () => {
  let database: TestDatabase;
  let dataDir: string;
  let app: TestingModule | undefined;

  const start = async (environment: Record<string, string> = {}): Promise<Mailer> => {
    const config = Config.fromEnvironment({
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      SECRET_KEY: 's'.repeat(32),
      ...environment,
    });
    const imports = [ConfigModule, DatabaseModule, SettingsModule, MailModule];
    app = await testingModule(config, { imports }, (builder) =>
      builder.overrideProvider(MailRetries).useValue({ afterMs: [10, 10] }),
    );
    await app.init();
    return app.get(Mailer);
  };

  beforeEach(async () => {
    database = await freshDatabase();
    dataDir = temporaryDataDir();
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
    await database.drop();
    removeDataDir(dataDir);
  });

  describe('over SMTP', () => {
    let mailbox: Mailbox;
    beforeEach(async () => {
      mailbox = await Mailbox.open();
    });
    afterEach(() => mailbox.close());

    const mailer = (): Promise<Mailer> => start({ SMTP_URL: mailbox.url, MAIL_FROM: 'The Relay <relay@example.org>' });

    it('arrives with both parts, from the address that is configured', async () => {
      (await mailer()).send(mail());
      const received = await mailbox.latestTo('ann@example.com');
      expect(received).toMatchObject({ from: 'relay@example.org', to: ['ann@example.com'] });
      const { message } = received;
      expect(message.from?.text).toBe('"The Relay" <relay@example.org>');
      expect(message.subject).toBe('Grüße, and “quotes”');
      expect(message.html).toContain('An <b>HTML</b> part');
      expect(message.text?.trim()).toBe('A text part.');
      expect(message.headers.get('auto-submitted')).toBe('auto-generated');
    });

    it.each([
      'ann@example.com, eve@example.com',
      'ann@example.com\r\nBcc: eve@example.com',
      'Eve <eve@example.com>',
      '',
    ])('is never sent to %j, which is Invalid recipient address', async (to) => {
      const sender = await mailer();
      expect(() => sender.send(mail({ to }))).toThrow('Invalid recipient address');
      await expect(sender.deliver(mail({ to }))).rejects.toThrow('Invalid recipient address');
      await sender.deliver(mail());
      expect(mailbox.mails.map(addressedTo)).toEqual(['ann@example.com']);
    });

    it('has no header that stood in its subject', async () => {
      const sender = await mailer();
      expect(() => sender.send(mail({ subject: 'Hello\r\nBcc: eve@example.com' }))).toThrow('contains a line break');
    });

    it('is tried again when the server is busy, and not when it refuses for good', async () => {
      const sender = await mailer();
      mailbox.refusals.push(451, 451, undefined, 550);
      sender.send(mail());
      await mailbox.latestTo('ann@example.com');
      sender.send(mail({ to: 'bob@example.com' }));
      await eventually(() => expect(mailbox.refusals).toEqual([]));
      await app?.close();
      expect(mailbox.mails).toHaveLength(1);
    });
  });

  it('does not block requests or shutdown when the mail server is silent', async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const sender = await start({ SMTP_URL: `smtp://127.0.0.1:${port}` });
    expect(sender.send(mail())).toBeUndefined();
    await eventually(() => expect(sockets).toHaveLength(1));
    sockets[0]?.destroy();
    silent.close();
    await app?.close();
    app = undefined;
  });

  describe('with a server that the settings name', () => {
    const save = (revision: number, typed: Record<string, string>): Promise<unknown> =>
      app!.get(SettingsEditor).change('mail', revision, typed);

    it('goes there from then on, under the sender that they name, and into the outbox when they name none', async () => {
      const mailbox = await Mailbox.open();
      const sender = await start();
      expect(await sender.deliver(mail())).toMatchObject({ by: 'outbox' });
      await save(0, { server: mailbox.url, from: 'Acme <relay@acme.example>' });
      expect(await sender.deliver(mail())).toEqual({ by: 'server', answer: '250 OK: message queued' });
      expect(mailbox.mails.map(({ message }) => message.from?.text)).toEqual(['"Acme" <relay@acme.example>']);
      await save(1, { server: '' });
      expect(await sender.deliver(mail())).toMatchObject({ by: 'outbox' });
      expect(mailbox.mails).toHaveLength(1);
      await mailbox.close();
    });

    it('is sent nowhere while its password cannot be opened, and the log would say why', async () => {
      const sender = await start();
      await save(0, { server: 'smtp://relay@127.0.0.1:9', serverPassword: 'hunter2' });
      await app!
        .get(DataSource)
        .query(`UPDATE settings SET value = value || '{"server": "smtp://relay@127.0.0.1:10"}'`);
      await app!.get(Settings).reload();
      await expect(sender.deliver(mail())).rejects.toThrow('SECRET_KEY has changed');
    });
  });

  describe('without a server', () => {
    const folder = (): string => join(dataDir, 'outbox');

    it('is written to the outbox, which only its owner can read', async () => {
      await (await start()).deliver(mail());
      const [name = '', ...others] = readdirSync(folder());
      expect(others).toEqual([]);
      expect(name).toMatch(/^\d{8}T\d{9}Z-[0-9a-f]{8}\.eml$/);
      expect(statSync(join(folder(), name)).mode & 0o777).toBe(0o600);
      expect(statSync(folder()).mode & 0o777).toBe(0o700);
      const message = await simpleParser(readFileSync(join(folder(), name)));
      expect(message.subject).toBe('Grüße, and “quotes”');
      expect(message.text?.trim()).toBe('A text part.');
      expect(message.html).toContain('An <b>HTML</b> part');
    });

    it('keeps only the latest 500', async () => {
      const sender = await start();
      for (let count = 0; count < 503; count++) await sender.deliver(mail({ subject: `Mail ${count}` }));
      const names = readdirSync(folder()).toSorted();
      expect(names).toHaveLength(500);
      expect(readFileSync(join(folder(), names.at(-1) ?? ''), 'utf8')).toContain('Subject: Mail 502');
    });
  });
});
