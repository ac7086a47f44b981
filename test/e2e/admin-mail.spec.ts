import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { Settings } from '../../src/platform/settings/index.js';
import { Mailbox } from '../support/mailbox.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

const PAGE = '/admin/settings/mail';
const PASSWORD = 'correct-horse-47';

describe('the mail server settings', () => {
  let relay: RelayApp;
  let operator: PageVisitor;
  let mailbox: Mailbox;
  let dataDir: string;

  beforeEach(async () => {
    dataDir = temporaryDataDir();
    [relay, mailbox] = await Promise.all([RelayApp.start({}, { DATA_DIR: dataDir }), Mailbox.open()]);
    operator = (await operatorVisit(relay)).browser;
  });
  afterEach(async () => {
    await relay.close();
    await mailbox.close();
    removeDataDir(dataDir);
  });

  const save = async (fields: Record<string, string>): Promise<PageResponse> => {
    const { text } = await operator.get(PAGE);
    const revision = new RegExp(`action="${PAGE}".*?name="revision" value="(\\d+)"`, 's').exec(text)?.[1] ?? '';
    return operator.post(PAGE, { revision, server: '', serverPassword: '', from: '', ...fields });
  };
  const test = async (to: string): Promise<PageResponse> => operator.submit(PAGE, { to }, `${PAGE}/test`);

  it('sends a test email from the configured sender, and shows the server’s reply', async () => {
    await save({ server: mailbox.url, from: 'Acme <relay@acme.example>' });
    expect((await test('ann@example.com')).location).toBe(PAGE);
    const { text } = await operator.get(PAGE);
    expect(text).toContain('Test email accepted by the mail server');
    expect(text).toContain('Server reply: 250 OK: message queued');
    const { from, message } = await mailbox.latestTo('ann@example.com');
    expect(from).toBe('relay@acme.example');
    expect(message.subject).toBe('Test email from Switchboard');
  });

  it('shows the reply when the server rejects the test email', async () => {
    await save({ server: mailbox.url });
    mailbox.refusals.push(550);
    const { status, text } = await test('ann@example.com');
    expect(status).toBe(422);
    expect(text).toMatch(/id="to-error">.*?The test email was not sent: .*550 not now/s);
    expect(text).toContain('value="ann@example.com"');
    expect(mailbox.mails).toEqual([]);
  });

  it('reports a connection error when the server is unreachable', async () => {
    await save({ server: 'smtp://127.0.0.1:9' });
    expect((await test('ann@example.com')).text).toMatch(/The test email was not sent: .*ECONNREFUSED/);
  });

  it('writes the test email to the outbox folder when no server is configured', async () => {
    await test('ann@example.com');
    const { text } = await operator.get(PAGE);
    expect(text).toContain('Test email not sent');
    const [, file = ''] = /was saved to (\S+\.eml)/.exec(text) ?? [];
    expect(file.startsWith(dataDir)).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain('To: ann@example.com');
  });

  it('rejects an invalid recipient', async () => {
    await save({ server: mailbox.url });
    const { status, text } = await test('ann@example.com, eve@example.com');
    expect(status).toBe(422);
    expect(text).toContain('Enter an email address, such as name@example.com.');
  });

  it('never shows or records the password, wherever it was typed', async () => {
    const pasted = `smtp://relay:${PASSWORD}@127.0.0.1:9`;
    const refused = await save({ server: pasted, from: 'no address' });
    expect(refused.status).toBe(422);
    const saved = await save({ server: pasted });
    expect(saved.status).toBe(303);
    expect(relay.get(Settings).current().mail.smtpUrl?.reveal()).toBe(pasted);
    const kept = await save({ server: 'smtp://relay@127.0.0.1:9', from: 'relay@acme.example' });
    expect(kept.status).toBe(303);
    expect(relay.get(Settings).current().mail.smtpUrl?.reveal()).toBe(pasted);
    const tested = await test('ann@example.com');
    const elsewhere = await save({ server: 'smtp://relay@127.0.0.1:10' });
    expect(elsewhere.text).toMatch(
      /id="serverPassword-error">.*?Enter the password again: the stored one is used only/s,
    );
    const sql = relay.get(DataSource);
    const records = [await sql.query('SELECT * FROM settings'), await sql.query('SELECT * FROM audit_entries')];
    const pages = [refused, await operator.get(PAGE), tested, elsewhere].map(({ text }) => text);
    expect(JSON.stringify(records)).toContain('smtp://relay@127.0.0.1:9');
    for (const text of [...pages, JSON.stringify(records)]) expect(text).not.toContain(PASSWORD);
  });
});
