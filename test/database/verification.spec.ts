import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AuthModule, CodeRefused, LinkRefused, ResendTooSoon, Verifications } from '../../src/auth/index.js';
import { Clock } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HeldClock } from '../support/held-clock.js';
import { startOn } from '../support/modules.js';

const REGISTER = { purpose: 'register', subject: 'reg_1', email: 'ann@example.com' } as const;

describe('codes and links in mail', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let other: TestingModule;
  let clock: HeldClock;
  let verifications: Verifications;
  let elsewhere: Verifications;

  beforeEach(async () => {
    database = await freshDatabase();
    clock = new HeldClock();
    const start = (): Promise<TestingModule> =>
      startOn(database, [AuthModule], (builder) => builder.overrideProvider(Clock).useValue(clock));
    [app, other] = await Promise.all([start(), start()]);
    verifications = app.get(Verifications);
    elsewhere = other.get(Verifications);
  });
  afterEach(async () => {
    await app.close();
    await other.close();
    await database.drop();
  });

  const issued = async (
    requested: Parameters<Verifications['issue']>[0] = REGISTER,
  ): Promise<{ code: string; token: string }> => {
    const { code = '', token } = await verifications.issue(requested);
    return { code, token };
  };
  const byCode = (code: string): ReturnType<Verifications['byCode']> => elsewhere.byCode('register', 'reg_1', code);
  const use = async (found: Parameters<Verifications['use']>[0], by = verifications): Promise<void> =>
    app.get(DataSource).transaction((manager) => by.use(found, manager));
  const wrong = (code: string): string => (code === '000000' ? '000001' : '000000');

  it('prove an address in another process, by the code however it is typed, or by the link', async () => {
    const { code, token } = await issued();
    expect(code).toMatch(/^\d{6}$/);
    await expect(byCode(`${code.slice(0, 3)} ${code.slice(3)}`)).resolves.toMatchObject({ email: 'ann@example.com' });
    await expect(byCode(` ${code.slice(0, 3)}-${code.slice(3)} `)).resolves.toMatchObject({ subject: 'reg_1' });
    await expect(elsewhere.byToken(token)).resolves.toMatchObject({
      state: 'open',
      verification: { purpose: 'register', subject: 'reg_1', email: 'ann@example.com' },
    });
  });

  it('are stored only as hashes, the code under a key that is not in the database', async () => {
    const { code, token } = await issued();
    const rows = await app
      .get(DataSource)
      .query<{ code_hash: Buffer }[]>(
        `SELECT *, sha256(convert_to($1, 'UTF8')) AS plain, sha256(convert_to(id || E'\\n' || $1, 'UTF8')) AS salted FROM verifications`,
        [code],
      );
    const [row] = rows as unknown as { code_hash: Buffer; plain: Buffer; salted: Buffer }[];
    expect(row?.code_hash).toHaveLength(32);
    expect([row?.plain, row?.salted]).not.toContainEqual(row?.code_hash);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('work once, also when code and link are used at the same moment in two processes', async () => {
    const { code, token } = await issued();
    const opened = await verifications.byToken(token);
    const found = await byCode(code);
    const uses = await Promise.allSettled([use(opened!.verification), use(found, elsewhere), use(found)]);
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(byCode(code)).rejects.toThrow(CodeRefused);
    await expect(verifications.byToken(token)).resolves.toMatchObject({ state: 'used' });
    await expect(use(found)).rejects.toThrow(LinkRefused);
  });

  it('are valid for 15 minutes', async () => {
    const { code, token } = await issued();
    clock.pass(15 * 60 - 1);
    const found = await byCode(code);
    clock.pass(1);
    await expect(byCode(code)).rejects.toThrow('no longer valid');
    await expect(verifications.byToken(token)).resolves.toMatchObject({ state: 'expired' });
    await expect(use(found)).rejects.toThrow(LinkRefused);
  });

  it('of an invitation are a link alone, valid for seven days', async () => {
    const { code, token } = await verifications.issue({
      purpose: 'invite',
      subject: 'acc_1',
      email: 'ann@example.com',
    });
    expect(code).toBeUndefined();
    clock.pass(7 * 86_400 - 1);
    await expect(verifications.byToken(token)).resolves.toMatchObject({ state: 'open' });
    clock.pass(1);
    await expect(verifications.byToken(token)).resolves.toMatchObject({ state: 'expired' });
  });

  it('take five attempts, however many are made at once, and the right code is none of them any more', async () => {
    const { code } = await issued();
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => byCode(wrong(code))));
    const messages = tries.map((tried) => (tried.status === 'rejected' ? String(tried.reason) : 'taken'));
    expect(messages.filter((text) => text.includes('Wrong code'))).toHaveLength(5);
    expect(messages.filter((text) => text.includes('Too many wrong codes'))).toHaveLength(15);
    await expect(byCode(code)).rejects.toThrow('Too many wrong codes');
  });

  it('do not take what is no code for an attempt', async () => {
    const { code } = await issued();
    for (const text of ['', '12345', '1234567', 'abcdef', '１２３４５６'])
      await expect(byCode(text)).rejects.toThrow('Enter the six-digit code');
    for (let count = 0; count < 4; count++) await expect(byCode(wrong(code))).rejects.toThrow('Wrong code');
    await expect(byCode(code)).resolves.toBeDefined();
  });

  it('can be sent again after a minute, and replace those before, with attempts of their own', async () => {
    const first = await issued();
    for (let count = 0; count < 5; count++) await expect(byCode(wrong(first.code))).rejects.toThrow(CodeRefused);
    clock.pass(59);
    await expect(verifications.issue(REGISTER)).rejects.toThrow(ResendTooSoon);
    await expect(verifications.issue(REGISTER)).rejects.toThrow('in 1 s');
    clock.pass(1);
    const second = await issued();
    await expect(verifications.byToken(first.token)).resolves.toBeUndefined();
    if (first.code !== second.code) await expect(byCode(first.code)).rejects.toThrow('Wrong code');
    await expect(byCode(second.code)).resolves.toBeDefined();
  });

  it('can be sent to another address at once', async () => {
    const first = await issued();
    const { code } = await issued({ ...REGISTER, email: 'bob@example.com' });
    await expect(byCode(code)).resolves.toMatchObject({ email: 'bob@example.com' });
    await expect(verifications.byToken(first.token)).resolves.toBeUndefined();
  });

  it('that were never sent look like any other, and prove nothing', async () => {
    const { code, token } = await issued({ ...REGISTER, hopeless: true });
    await expect(byCode(code)).rejects.toThrow('Wrong code');
    await expect(verifications.byToken(token)).resolves.toBeUndefined();
    for (let count = 0; count < 4; count++) await expect(byCode(code)).rejects.toThrow('Wrong code');
    await expect(byCode(code)).rejects.toThrow('Too many wrong codes');
  });

  it('belong to what they were asked for', async () => {
    const { code, token } = await issued();
    await expect(verifications.byCode('register', 'reg_2', code)).rejects.toThrow(CodeRefused);
    await expect(verifications.byCode('change', 'reg_1', code)).rejects.toThrow(CodeRefused);
    for (const text of ['', 'x', token.slice(1), `${token}x`, `${token.slice(0, -1)}'`])
      await expect(verifications.byToken(text)).resolves.toBeUndefined();
  });
});
