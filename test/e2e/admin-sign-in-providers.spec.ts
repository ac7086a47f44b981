import { DataSource } from 'typeorm';
import { SignInProviders } from '../../src/auth/index.js';
import { forgetSignIn, OPERATOR_PASSWORD, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PAGE = '/admin/settings/providers';
const ACME = {
  name: 'acme',
  label: 'Acme',
  issuer: 'https://login.acme.example',
  clientId: 'relay',
  clientSecret: 'correct horse battery',
};

describe('the settings of sign-in providers', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;

  /** Audit entries of earlier tests. */
  let earlier = 0;

  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    operator = await operatorVisit(relay);
    earlier += (await entries()).length;
  });
  afterEach(() => relay.get(DataSource).query('DELETE FROM sign_in_providers'));

  const add = (fields: Record<string, string> = {}): Promise<PageResponse> =>
    operator.browser.submit(`${PAGE}/new`, { ...ACME, ...fields });
  const save = async (changes: Record<string, string>): Promise<PageResponse> => {
    const { text } = await operator.browser.get(`${PAGE}/acme`);
    const revision = /name="revision" value="(\d+)"/.exec(text)?.[1] ?? '';
    const { name: _, clientSecret: __, ...shown } = ACME;
    return operator.browser.post(`${PAGE}/acme`, { revision, ...shown, clientSecret: '', ...changes });
  };
  const entries = async (): Promise<{ action: string; lines: string[] }[]> => {
    const sql = `SELECT action, lines FROM audit_entries WHERE object_id = 'sign-in provider acme' ORDER BY id`;
    return (await relay.get(DataSource).query<{ action: string; lines: string[] }[]>(sql)).slice(earlier);
  };
  const secret = async (): Promise<string> => (await relay.get(SignInProviders).client('acme')).clientSecret.reveal();

  it('adds a provider, whose secret is stored encrypted and never shown', async () => {
    expect((await operator.browser.get(`${PAGE}/new`)).text).toContain(`${relay.url}/sign-in/with/NAME/callback`);
    expect((await add()).location).toBe(PAGE);
    expect((await operator.browser.get(PAGE)).text).toContain('https://login.acme.example');
    const { text } = await operator.browser.get(`${PAGE}/acme`);
    expect(text).toContain(`${relay.url}/sign-in/with/acme/callback`);
    expect(text).toContain('A secret is stored.');
    expect(text).not.toContain(ACME.clientSecret);
    expect(JSON.stringify(await relay.get(DataSource).query('SELECT * FROM sign_in_providers'))).not.toContain('horse');
    await expect(secret()).resolves.toBe(ACME.clientSecret);
    expect((await new PageVisitor(relay.url).get('/sign-in')).text).toContain('Continue with Acme');
    const facts = ['name Acme', 'issuer https://login.acme.example', 'client ID relay', 'linking by email off'];
    expect(await entries()).toEqual([{ action: 'created', lines: facts }]);
  });

  it.each([
    ['name', 'Acme!', 'Enter up to 40 lower-case letters'],
    ['name', 'new', 'Enter up to 40 lower-case letters'],
    ['label', '', 'Enter a name of 1 to 60 characters'],
    ['issuer', 'login.acme.example', 'Enter an https:// address'],
    ['issuer', 'http://login.acme.example', 'Enter an https:// address'],
    ['issuer', 'https://169.254.169.254', 'Enter an https:// address'],
    ['issuer', 'https://user:pass@login.acme.example', 'Enter an https:// address'],
    ['clientId', '', 'Enter the client ID'],
    ['clientSecret', '', 'Enter the client secret.'],
  ])('says what to enter when %s is %j', async (field, value, message) => {
    const { status, text } = await add({ [field]: value });
    expect(status).toBe(422);
    expect(text).toMatch(new RegExp(`id="${field}-error">.*?${message}`, 's'));
    await expect(relay.get(SignInProviders).list()).resolves.toEqual([]);
  });

  it('has each name once', async () => {
    await add();
    const { status, text } = await add({ label: 'Other' });
    expect(status).toBe(422);
    expect(text).toContain('this one is taken');
  });

  it('keeps the secret while its field is empty, but for its issuer and client only', async () => {
    await add();
    expect((await save({ label: 'Acme Inc', linksByEmail: 'yes' })).location).toBe(`${PAGE}/acme`);
    await expect(secret()).resolves.toBe(ACME.clientSecret);
    const moved = await save({ issuer: 'https://evil.example' });
    expect(moved.status).toBe(422);
    expect(moved.text).toMatch(/id="clientSecret-error">.*?Enter the secret again/s);
    await expect(relay.get(SignInProviders).get('acme')).resolves.toMatchObject({
      issuer: ACME.issuer,
      label: 'Acme Inc',
      linksByEmail: true,
    });
    await save({ issuer: 'https://login.acme.example/realm', clientSecret: 'another' });
    await expect(secret()).resolves.toBe('another');
  });

  it('saves nothing over changes that were saved meanwhile', async () => {
    await add();
    await save({ clientId: 'first', clientSecret: 'one' });
    const { status, text } = await save({ revision: '1', clientId: 'second', clientSecret: 'two' });
    expect(status).toBe(409);
    expect(text).toContain('This provider was changed while you edited it');
    await expect(relay.get(SignInProviders).get('acme')).resolves.toMatchObject({ clientId: 'first' });
  });

  it('asks for the password if the sign-in is not recent', async () => {
    await forgetSignIn(relay, operator.accountId);
    expect((await add()).status).toBe(422);
    await expect(relay.get(SignInProviders).list()).resolves.toEqual([]);
    expect((await add({ password: OPERATOR_PASSWORD })).location).toBe(PAGE);
    await forgetSignIn(relay, operator.accountId);
    expect((await save({ label: 'Other' })).status).toBe(422);
    expect((await operator.browser.post(`${PAGE}/acme/delete`)).text).toContain('Confirm your password');
    await expect(relay.get(SignInProviders).list()).resolves.toMatchObject([{ label: 'Acme' }]);
  });

  it('deletes a provider, which can no longer be signed in with', async () => {
    await add();
    await operator.browser.get(`${PAGE}/acme`);
    expect((await operator.browser.post(`${PAGE}/acme/delete`)).location).toBe(PAGE);
    const visitor = new PageVisitor(relay.url);
    expect((await visitor.get('/sign-in/with/acme')).status).toBe(404);
    expect((await visitor.get('/sign-in')).text).not.toContain('Continue with');
    expect((await entries()).map(({ action }) => action)).toEqual(['created', 'deleted']);
    expect((await operator.browser.get(`${PAGE}/acme`)).status).toBe(404);
  });

  it('says so when the secret cannot be decrypted', async () => {
    await add();
    await relay.get(DataSource).query(`UPDATE sign_in_providers SET sealed_secret = 'v1.AAAA'`);
    expect((await operator.browser.get(`${PAGE}/acme`)).text).toContain('Its client secret cannot be decrypted');
    const { status, text } = await new PageVisitor(relay.url).get('/sign-in/with/acme');
    expect(status).toBe(503);
    expect(text).toContain('Acme cannot be reached at present.');
  });
});
