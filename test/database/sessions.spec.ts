import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AccountStatus, SessionNotFound, SessionService } from '../../src/auth/index.js';
import { AccessModule, BrowserSignIn } from '../../src/console/access/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { SettingsEditor } from '../../src/platform/settings/index.js';
import { Clock } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FROM = { ip: '192.0.2.7', userAgent: 'Firefox/130' };
const TOKEN = 'a'.repeat(43);
const OTHER = 'b'.repeat(43);
const LATER = 'c'.repeat(43);

class SetClock extends Clock {
  at = Date.now();
  override now(): number {
    return this.at;
  }
}

describe('sessions', () => {
  const clock = new SetClock();
  let database: TestDatabase;
  let app: TestingModule;
  let sessions: SessionService;
  let ann: string;
  let bob: string;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [AccessModule, OnboardingModule], (builder) =>
      builder.overrideProvider(Clock).useValue(clock),
    );
    sessions = app.get(SessionService, { strict: false });
    const onboarding = app.get(Onboarding);
    ({ id: ann } = await onboarding.createAccount({ email: 'ann@example.com', name: 'Ann', role: 'admin' }));
    ({ id: bob } = await onboarding.createAccount({ email: 'bob@example.com', verified: true }));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('tell who is behind a token', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    await expect(sessions.find(TOKEN, FROM)).resolves.toMatchObject({
      visitor: {
        accountId: ann,
        scopeId: ann,
        organization: undefined,
        email: 'ann@example.com',
        name: 'Ann',
        isAdministrator: true,
        verified: false,
        timeZone: 'UTC',
      },
    });
    await expect(sessions.find(OTHER, FROM)).resolves.toBeUndefined();
  });

  it('name the organizations of the user, and the one they work in until they leave it', async () => {
    const sql = app.get(DataSource);
    await sql.query(
      `WITH o AS (INSERT INTO accounts (id, email, name, kind, group_name)
                  VALUES ('org_1', '1@organization.invalid', 'Acme', 'organization', 'saver') RETURNING id),
            r AS (INSERT INTO organizations (id) SELECT id FROM o)
       INSERT INTO members (id, organization_id, account_id, role) SELECT 'mem_1', id, $1, 'billing' FROM o`,
      [bob],
    );
    await sessions.start(bob, TOKEN, false, FROM);
    const found = async () => (await sessions.find(TOKEN, FROM))!;
    const acme = { id: 'org_1', name: 'Acme', memberId: 'mem_1', role: 'billing', teamId: undefined };
    const own = { accountId: bob, scopeId: bob, organization: undefined, groupName: undefined };
    const { visitor } = await found();
    expect(visitor).toMatchObject({ ...own, organizations: [acme] });
    await expect(sessions.switchScope(visitor, 'org_2')).rejects.toThrow('Organization not found.');
    await sessions.switchScope(visitor, 'org_1');
    const inside = { accountId: bob, scopeId: 'org_1', organization: acme, groupName: 'saver' };
    expect(await found()).toMatchObject({ visitor: inside, hasLostOrganization: false });
    await sql.query(`UPDATE members SET state = 'left'`);
    expect(await found()).toMatchObject({ visitor: { ...own, organizations: [] }, hasLostOrganization: true });
    expect(await found()).toMatchObject({ visitor: own, hasLostOrganization: false });
  });

  it('are known by a hash: the token stands nowhere', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    const rows = await app.get(DataSource).query<{ row: string }[]>('SELECT sessions::text AS row FROM sessions');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(TOKEN);
    expect(rows[0]?.row).not.toContain(Buffer.from(TOKEN).toString('hex'));
  });

  it('end after 12 hours, or after 30 days when they are kept', async () => {
    expect(await sessions.start(ann, TOKEN, false, FROM)).toBeUndefined();
    expect(await sessions.start(bob, OTHER, true, FROM)).toBe(30 * 24 * 3600);
    clock.at += 12 * HOUR_MS + 1;
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeUndefined();
    await expect(sessions.find(OTHER, FROM)).resolves.toMatchObject({ visitor: { accountId: bob } });
    for (let days = 10; days <= 20; days += 10) {
      clock.at += 10 * DAY_MS;
      await expect(sessions.find(OTHER, FROM)).resolves.toBeDefined();
    }
    clock.at += 10 * DAY_MS;
    await expect(sessions.find(OTHER, FROM)).resolves.toBeUndefined();
  });

  it('end after 14 days without a visit', async () => {
    await sessions.start(ann, TOKEN, true, FROM);
    await sessions.start(ann, OTHER, true, FROM);
    clock.at += 13 * DAY_MS;
    const visited = await sessions.find(TOKEN, FROM);
    clock.at += DAY_MS;
    await expect(sessions.find(OTHER, FROM)).resolves.toBeUndefined();
    expect((await sessions.list(ann)).map(({ id }) => id)).toEqual([visited?.visitor.sessionId]);
    clock.at += 13 * DAY_MS - 1;
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeDefined();
  });

  it('end after as many hours without a visit as are set, also those that began before', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    await app.get(SettingsEditor, { strict: false }).change('signUp', 0, { sessionIdleHours: 2 });
    clock.at += 2 * HOUR_MS - 1;
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeDefined();
    clock.at += 2 * HOUR_MS;
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeUndefined();
  });

  it('end when their account is suspended, also for when it is enabled again', async () => {
    await sessions.start(bob, TOKEN, false, FROM);
    const standing = app.get(AccountStatus, { strict: false });
    await standing.disable(bob);
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeUndefined();
    await standing.enable(bob);
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeUndefined();
  });

  it('are listed with when and from where they were last seen', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    clock.at += 5 * 60_000;
    await sessions.find(TOKEN, { ip: '198.51.100.9', userAgent: 'Safari/19' });
    const [session, ...more] = await sessions.list(ann);
    expect(more).toEqual([]);
    expect(session).toMatchObject({ ip: '198.51.100.9', userAgent: 'Safari/19', lastSeenAt: new Date(clock.at) });
  });

  it('can be ended by their owner only', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    const [session] = await sessions.list(ann);
    await expect(sessions.end(bob, session!.id)).rejects.toThrow(SessionNotFound);
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeDefined();
    await sessions.end(ann, session!.id);
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeUndefined();
  });

  it('are over for their browser when they were ended elsewhere meanwhile, and not when the database fails', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    const { visitor } = (await sessions.find(TOKEN, FROM))!;
    const visit = { ...FROM, visitor, csrf: '', theme: undefined, host: '', requestId: '', url: '/sign-out' };
    const browser = app.get(BrowserSignIn, { strict: false });
    const query = (sql: string) => app.get(DataSource).query(sql);
    await query('ALTER TABLE accounts RENAME TO away');
    await expect(browser.end(visit)).rejects.toThrow('accounts');
    await query('ALTER TABLE away RENAME TO accounts');
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeDefined();
    await sessions.end(ann, visitor.sessionId);
    await expect(browser.end(visit)).resolves.toBeUndefined();
  });

  it('can be ended all but one', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    await sessions.start(ann, OTHER, false, FROM);
    const own = await sessions.find(OTHER, FROM);
    await sessions.endAllOf(ann, own?.visitor.sessionId);
    await expect(sessions.find(TOKEN, FROM)).resolves.toBeUndefined();
    await expect(sessions.find(OTHER, FROM)).resolves.toBeDefined();
  });

  it('leave no rows behind once they are over', async () => {
    await sessions.start(ann, TOKEN, false, FROM);
    clock.at += 13 * HOUR_MS;
    await sessions.start(bob, OTHER, false, FROM);
    expect(await app.get(DataSource).query('SELECT account_id FROM sessions')).toEqual([{ account_id: bob }]);
    await sessions.start(ann, TOKEN, true, FROM);
    clock.at += 14 * DAY_MS;
    await sessions.start(ann, LATER, true, FROM);
    const seen = await app.get(DataSource).query<{ at: Date }[]>('SELECT last_seen_at AS at FROM sessions');
    expect(seen).toEqual([{ at: new Date(clock.at) }]);
  });
});
