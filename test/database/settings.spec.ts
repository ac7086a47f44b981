import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { type Actor, actingAs } from '../../src/platform/audit/index.js';
import { Notifications } from '../../src/platform/database/index.js';
import { Settings, SettingsEditor, SettingsModule } from '../../src/platform/settings/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startOn } from '../support/modules.js';
import { withoutNotifications } from '../support/without-notifications.js';

const OPERATOR: Actor = { kind: 'account', accountId: 'acc_1', name: 'Olga', ip: '192.0.2.1' };
const SERVER = 'smtp://relay@mail.example.com:587';

describe('the settings', () => {
  let database: TestDatabase;
  const running: TestingModule[] = [];
  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(async () => {
    for (const modules of running.splice(0)) await modules.close();
    await database.drop();
  });

  const boot = async (): Promise<TestingModule> => {
    const modules = await startOn(database, [SettingsModule]);
    running.push(modules);
    return modules;
  };
  const rows = <Row>(modules: TestingModule, sql: string): Promise<Row[]> => modules.get(DataSource).query(sql);

  it('are the defaults until others are saved', async () => {
    const settings = (await boot()).get(Settings).current();
    expect(settings.site).toMatchObject({
      name: 'Switchboard',
      supportContact: undefined,
      terms: undefined,
      statusIsPublic: false,
    });
    expect(settings.signUp).toMatchObject({ mode: 'open', domains: [], startingCredit: 0n });
    expect(settings.mail).toMatchObject({ smtpUrl: undefined, from: '"Switchboard" <switchboard@localhost>' });
    expect(settings.retention.callsMonths).toBeUndefined();
  });

  it('hold in this process at once and in others within a second', async () => {
    const [here, there] = [await boot(), await boot()];
    await here
      .get(SettingsEditor)
      .change('signUp', 0, { mode: 'invite', domains: ['example.com'], startingCredit: '2.5' });
    const expected = { mode: 'invite', domains: ['example.com'], startingCredit: parseUsd('2.5') };
    expect(here.get(Settings).current().signUp).toMatchObject(expected);
    await eventually(() => expect(there.get(Settings).current().signUp).toMatchObject(expected), 1000);
  });

  it('are read each second while notifications are away', async () => {
    const [here, there] = [await boot(), await boot()];
    await withoutNotifications(here.get(DataSource), async () => {
      await eventually(() => expect(there.get(Notifications).connected).toBe(false));
      await here.get(SettingsEditor).change('site', 0, { name: 'Acme models' });
      await eventually(() => expect(there.get(Settings).current().site.name).toBe('Acme models'), 2500);
    });
  });

  it('are saved over the revision that was seen, and over no other', async () => {
    const editor = (await boot()).get(SettingsEditor);
    await editor.change('site', 0, { name: 'First' });
    await expect(editor.change('site', 0, { name: 'Second' })).rejects.toThrow('changed while you edited');
    expect(await editor.section('site')).toMatchObject({ value: { name: 'First' }, revision: 1 });
    // Another section has a revision of its own.
    await editor.change('retention', 0, { callsMonths: 12 });
    await editor.change('site', 1, { name: 'Third' });
    expect((await editor.section('site')).value.name).toBe('Third');
  });

  it('are saved by one of several who do so at the same moment', async () => {
    const [here, there] = [await boot(), await boot()];
    const saved = await Promise.allSettled(
      [here, there, here, there].map((modules, number) =>
        modules.get(SettingsEditor).change('site', 0, { name: `Name ${number}` }),
      ),
    );
    expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('leave a line for each field that was changed, with who did it, and none when nothing was', async () => {
    const modules = await boot();
    const editor = modules.get(SettingsEditor);
    await actingAs(OPERATOR, () => editor.change('site', 0, { name: 'Acme', terms: 'Be kind.' }));
    await actingAs(OPERATOR, () => editor.change('site', 1, { name: 'Acme', terms: 'Be kind.' }));
    expect(
      await rows(modules, 'SELECT actor_name, action, object_kind, object_id, object_name, lines FROM audit_entries'),
    ).toEqual([
      {
        actor_name: 'Olga',
        action: 'changed',
        object_kind: 'setting',
        object_id: 'site',
        object_name: 'Site',
        lines: ['name Switchboard → Acme', 'terms changed'],
      },
    ]);
  });

  describe('of mail', () => {
    const PASSWORD = 'correct-horse-47';

    it('keep the password sealed, and out of the audit log', async () => {
      const modules = await boot();
      const editor = modules.get(SettingsEditor);
      await actingAs(OPERATOR, () => editor.change('mail', 0, { server: SERVER, serverPassword: PASSWORD }));
      expect(modules.get(Settings).current().mail.smtpUrl?.reveal()).toBe(
        `smtp://relay:${PASSWORD}@mail.example.com:587`,
      );
      const stored = [
        await rows(modules, 'SELECT * FROM settings'),
        await rows(modules, 'SELECT * FROM audit_entries'),
      ];
      expect(JSON.stringify(stored)).not.toContain(PASSWORD);
      expect(JSON.stringify(stored)).toContain('password changed');
    });

    it('keep the password when none is typed, for the same address alone', async () => {
      const modules = await boot();
      const editor = modules.get(SettingsEditor);
      await editor.change('mail', 0, { server: SERVER, serverPassword: PASSWORD });
      await editor.change('mail', 1, { server: SERVER, serverPassword: '', from: 'relay@example.com' });
      expect(modules.get(Settings).current().mail.smtpUrl?.reveal()).toContain(PASSWORD);
      const elsewhere = { server: 'smtp://relay@evil.example:587', serverPassword: '' };
      await expect(editor.change('mail', 2, elsewhere)).rejects.toMatchObject({ details: { param: 'serverPassword' } });
      await editor.change('mail', 2, { server: 'smtp://mail.example.com' });
      expect((await editor.section('mail')).value.sealedPassword).toBe('');
    });

    it('say so when SECRET_KEY differs, and mail goes nowhere', async () => {
      const modules = await boot();
      await modules.get(SettingsEditor).change('mail', 0, { server: SERVER, serverPassword: PASSWORD });
      // As good as sealed under another key: it is beside another address.
      await rows(modules, `UPDATE settings SET value = value || '{"server": "smtp://relay@other.example"}'`);
      await modules.get(Settings).reload();
      expect(modules.get(Settings).current().mail).toMatchObject({
        smtpUrl: undefined,
        unusable: expect.stringContaining('SECRET_KEY') as string,
      });
    });
  });
});
