import { DataSource } from 'typeorm';
import { TokenIssuers } from '../../src/keys/index.js';
import { forgetSignIn, OPERATOR_PASSWORD, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PAGE = '/admin/settings/token-issuers';
const ACME = {
  name: 'Acme CI',
  issuer: 'https://token.acme.example',
  audience: 'relay',
  jwksUri: '',
  algorithms: 'RS256',
  requiredClaims: 'repository_owner=acme\r\n\r\n',
  maxLifetimeHours: '1',
  holder: 'account',
  matchedBy: 'identity',
  claim: 'sub',
  organizationId: '',
};

describe('the settings of token issuers', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;
  let organizationId: string;

  beforeAll(async () => {
    relay = await RelayApp.start();
    ({ accountId: organizationId } = await relay.caller());
    await sql(`UPDATE accounts SET kind = 'organization', name = 'Acme Inc' WHERE id = $1`, [organizationId]);
    await sql('INSERT INTO organizations (id) VALUES ($1)', [organizationId]);
    await sql(`INSERT INTO teams (id, organization_id, name) VALUES ('team_1', $1, 'Research')`, [organizationId]);
  });
  afterAll(() => relay.close());
  beforeEach(async () => (operator = await operatorVisit(relay)));
  afterEach(() => sql('DELETE FROM token_issuers'));

  const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> => relay.get(DataSource).query(text, values);
  const add = (fields: Record<string, string> = {}): Promise<PageResponse> =>
    operator.browser.submit(`${PAGE}/new`, { ...ACME, ...fields });
  const onlyIssuer = async () => {
    const [issuer, ...more] = await relay.get(TokenIssuers).list();
    if (issuer === undefined || more.length > 0) throw new Error(`${more.length} more issuers`);
    return issuer;
  };
  const save = async (changes: Record<string, string>): Promise<PageResponse> => {
    const { id } = await onlyIssuer();
    const { text } = await operator.browser.get(`${PAGE}/${id}`);
    const revision = /name="revision" value="(\d+)"/.exec(text)?.[1] ?? '';
    const { name, jwksUri, algorithms, requiredClaims, maxLifetimeHours } = ACME;
    const shown = { name, jwksUri, algorithms, requiredClaims, maxLifetimeHours };
    return operator.browser.post(`${PAGE}/${id}`, { revision, ...shown, ...changes });
  };

  it('adds an issuer of users, and records it in the audit log', async () => {
    expect((await add()).location).toBe(PAGE);
    expect(await onlyIssuer()).toMatchObject({
      issuer: ACME.issuer,
      jwksUri: undefined,
      algorithms: ['RS256'],
      requiredClaims: ['repository_owner=acme'],
      maxLifetimeHours: 1,
      matchedBy: 'identity',
      organizationId: undefined,
    });
    expect((await operator.browser.get(PAGE)).text).toContain(ACME.issuer);
    const { id } = await onlyIssuer();
    const [entry] = await sql('SELECT action, lines FROM audit_entries WHERE object_id = $1', [`token issuer ${id}`]);
    expect(entry).toEqual({
      action: 'created',
      lines: [
        'name Acme CI',
        'keys from metadata',
        'algorithms RS256',
        'required claims repository_owner=acme',
        'max lifetime 1 h',
        'issuer https://token.acme.example',
        'audience relay',
        'tokens of users',
        'users by identity',
        'subject in sub',
      ],
    });
  });

  it('adds an issuer of services of a team', async () => {
    await add({ holder: 'service', organizationId: `${organizationId}/team_1`, claim: 'repository' });
    expect(await onlyIssuer()).toMatchObject({ organizationId, teamId: 'team_1', matchedBy: undefined });
    const { text } = await operator.browser.get(`${PAGE}/${(await onlyIssuer()).id}`);
    expect(text).toContain('Acme Inc, team Research');
    expect(text).toContain('A service of an organization, named by repository');
  });

  it.each([
    ['name', '', 'Enter a name of 1 to 60 characters'],
    ['issuer', 'http://token.acme.example', 'Enter an https:// address'],
    ['issuer', 'https://169.254.169.254', 'Enter an https:// address'],
    ['issuer', 'https://token.acme.example?x=1', 'Enter an https:// address'],
    ['audience', '', 'Enter the "aud" value'],
    ['jwksUri', 'ftp://token.acme.example/keys', 'Enter an https:// address'],
    ['algorithms', 'none', 'Select at least one algorithm'],
    ['algorithms', 'HS256', 'Select at least one algorithm'],
    ['requiredClaims', 'acme', 'Enter one claim per line'],
    ['maxLifetimeHours', '0', 'Enter whole hours from 1 to 8,760'],
    ['holder', 'anyone', 'Choose what the subject is'],
    ['claim', '', 'Enter the name of a claim'],
    ['organizationId', 'acc_1', 'Choose the organization'],
  ])('says what to enter when %s is %j', async (field, value, message) => {
    const { status, text } = await add({ [field]: value });
    expect(status).toBe(422);
    expect(text.replaceAll('&quot;', '"')).toMatch(new RegExp(`id="${field}-error">.*?${message}`, 's'));
    await expect(relay.get(TokenIssuers).list()).resolves.toEqual([]);
  });

  it('requires an organization that exists for members and services', async () => {
    for (const path of ['', 'acc_0', `${organizationId}/team_0`]) {
      const { status, text } = await add({ holder: 'service', organizationId: path });
      expect([path, status]).toEqual([path, 422]);
      expect(text).toMatch(/id="organizationId-error">.*?Choose/s);
    }
  });

  it('has each audience of an issuer once', async () => {
    await add();
    const { status, text } = await add({ name: 'Other' });
    expect(status).toBe(422);
    expect(text).toContain('this one is taken for the same issuer');
    expect((await add({ audience: 'other' })).location).toBe(PAGE);
  });

  it('changes settings, but not whose tokens they are', async () => {
    await add();
    expect((await save({ name: 'Acme builds', maxLifetimeHours: '2' })).location).toContain(PAGE);
    expect(await onlyIssuer()).toMatchObject({ name: 'Acme builds', maxLifetimeHours: 2, revision: 2 });
    expect((await save({ audience: 'other' })).status).toBe(422);
    const { status, text } = await save({ revision: '1', name: 'Late' });
    expect(status).toBe(409);
    expect(text).toContain('This issuer was changed while you edited it');
    expect(await onlyIssuer()).toMatchObject({ name: 'Acme builds', audience: 'relay' });
  });

  it('asks for the password if the sign-in is not recent', async () => {
    await forgetSignIn(relay, operator.accountId);
    expect((await add()).status).toBe(422);
    await expect(relay.get(TokenIssuers).list()).resolves.toEqual([]);
    expect((await add({ password: OPERATOR_PASSWORD })).location).toBe(PAGE);
    await forgetSignIn(relay, operator.accountId);
    expect((await save({ name: 'Other' })).status).toBe(422);
    const { id } = await onlyIssuer();
    expect((await operator.browser.post(`${PAGE}/${id}/delete`)).text).toContain('Confirm your password');
    expect(await onlyIssuer()).toMatchObject({ name: 'Acme CI' });
  });

  it('deletes an issuer', async () => {
    await add();
    const { id } = await onlyIssuer();
    await operator.browser.get(`${PAGE}/${id}`);
    expect((await operator.browser.post(`${PAGE}/${id}/delete`)).location).toBe(PAGE);
    await expect(relay.get(TokenIssuers).list()).resolves.toEqual([]);
    expect((await operator.browser.get(`${PAGE}/${id}`)).status).toBe(404);
  });
});
