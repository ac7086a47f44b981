import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { turnOnSecondFactor } from '../support/authenticator.js';
import { OPERATOR_PASSWORD, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

interface Line {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly text: string;
}

describe('The process log contains', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;
  let lines: Line[];
  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = await operatorVisit(relay);
  });
  afterAll(() => relay.close());
  beforeEach(() => {
    lines = [];
    const note = (facts: unknown, text: unknown): void =>
      void lines.push({ facts: Object(facts) as Line['facts'], text: String(text) });
    jest.spyOn(Logger.prototype, 'log').mockImplementation(note);
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(note);
  });
  afterEach(() => jest.restoreAllMocks());

  it('sign-ins with account and address', async () => {
    await new PageVisitor(relay.url).signIn(operator.email, OPERATOR_PASSWORD);
    expect(lines).toContainEqual({
      facts: { account: operator.accountId, ip: '127.0.0.1' },
      text: 'User signed in.',
    });
  });

  it('failed sign-ins, without what was typed', async () => {
    const otherUser = new PageVisitor(relay.url);
    await otherUser.signIn(operator.email, 'correct horse battery');
    await otherUser.signIn('nobody-here@example.org', 'correct horse battery');
    expect(lines.filter(({ facts }) => facts['why'] === 'password').map(({ facts }) => facts['account'])).toEqual([
      operator.accountId,
      undefined,
    ]);
    for (const typed of ['correct horse', 'nobody-here', operator.email])
      expect(JSON.stringify(lines)).not.toContain(typed);
  });

  it('wrong two-factor codes, at sign-in and at re-authentication', async () => {
    const { accountId, email, browser } = await operatorVisit(relay);
    await turnOnSecondFactor(browser);
    const visitor = new PageVisitor(relay.url);
    await visitor.signIn(email, OPERATOR_PASSWORD);
    await visitor.submit('/sign-in/code', { code: '000000' });
    const given = { currentPassword: OPERATOR_PASSWORD, code: '000000' };
    for (const page of ['/account/second-factor/off', '/account/second-factor/recovery-codes'])
      expect((await browser.submit(page, given)).status).toBe(422);
    const facts = { account: accountId, ip: '127.0.0.1', why: 'code' };
    const again = { facts, text: 'Confirmation failed: wrong code.' };
    expect(lines.filter((line) => line.facts['why'] === 'code')).toEqual([
      expect.objectContaining({ facts }),
      again,
      again,
    ]);
    expect(JSON.stringify(lines)).not.toContain('000000');
  });

  it('wrong passwords at re-authentication', async () => {
    const { accountId, browser } = await operatorVisit(relay);
    const fields = { currentPassword: 'correct horse battery', password: 'copper lantern meadow' };
    expect((await browser.submit('/account/password', fields)).status).toBe(422);
    expect(lines).toContainEqual({
      facts: { account: accountId, ip: '127.0.0.1', why: 'password' },
      text: 'Confirmation failed: wrong password.',
    });
  });

  it('refused sign-ins of suspended accounts', async () => {
    const { accountId, email } = await operatorVisit(relay);
    await relay.get(DataSource).query(`UPDATE accounts SET state = 'disabled' WHERE id = $1`, [accountId]);
    await new PageVisitor(relay.url).signIn(email, OPERATOR_PASSWORD);
    expect(lines).toContainEqual(
      expect.objectContaining({ facts: { account: accountId, ip: '127.0.0.1', why: 'suspended' } }),
    );
  });

  it('requests for admin pages without the role', async () => {
    const { accountId } = await relay.caller();
    expect((await (await signedIn(relay, accountId)).get('/admin/users')).status).toBe(404);
    expect(lines).toContainEqual(
      expect.objectContaining({ facts: { account: accountId, ip: '127.0.0.1', why: 'operators only' } }),
    );
  });

  it('cross-origin form posts with a session', async () => {
    const { accountId } = await relay.caller();
    const browser = await signedIn(relay, accountId);
    expect((await browser.post('/account/profile', { _csrf: 'of another site', name: 'Eve' })).status).toBe(403);
    expect((await new PageVisitor(relay.url).post('/sign-in', { _csrf: 'of another site' })).status).toBe(403);
    expect(lines.filter(({ facts }) => facts['why'] === 'foreign form').map(({ facts }) => facts['account'])).toEqual([
      accountId,
    ]);
  });
});
