import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AccountStatus } from '../../src/auth/index.js';
import { ApiKeyService, KeyAuthenticator, type NewTokenIssuer, TokenIssuers } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { expectError, INVALID_TOKEN } from '../support/api-errors.js';
import { eventually } from '../support/eventually.js';
import { aRequest, PATHS, PROTOCOLS } from '../support/protocols.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import { gate, responseIn, waitFor } from '../support/scripted-upstream.js';
import { SocketClient } from '../support/socket-client.js';
import { type Claims, hmacToken, issuerKey, tokenOf, TokenServer, unsignedToken } from '../support/token-issuer.js';

/** How soon every process must follow a change. */
const FOLLOWS_MS = 1000;

/** The row of a subject's key. */
interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly account_id: string;
  readonly member_id: string | null;
  readonly team_id: string | null;
}

describe('JWTs as API keys', () => {
  let relay: RelayApp;
  let other: RelayApp;
  let issuer: TokenServer;
  /** An account with credit, and the identity that is linked to it. */
  let owner: TestCaller;
  let subject: string;

  beforeAll(async () => {
    issuer = await TokenServer.start();
    relay = await RelayApp.start();
    other = await RelayApp.start({}, { DATABASE_URL: relay.databaseUrl });
    await relay.applyCatalog(catalogFor(relay.upstream.url));
  }, 120_000);
  afterAll(async () => {
    await other.close();
    await relay.close();
    await issuer.close();
  });
  beforeEach(async () => {
    issuer.isDown = false;
    relay.upstream.reset();
    await sql('DELETE FROM token_issuers');
    owner = await relay.caller({ credit: '5' });
    subject = randomUUID();
    await sql(
      `INSERT INTO linked_identities (id, account_id, issuer, subject, linked_at) VALUES ($1, $2, $3, $4, now())`,
      [`idn_${subject}`, owner.accountId, issuer.issuer, subject],
    );
  });

  const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> => relay.get(DataSource).query(text, values);
  /** Set up in both processes. */
  const accept = async (changes: Partial<NewTokenIssuer> = {}): Promise<string> => {
    const id = await relay.get(TokenIssuers).add({
      name: 'Acme',
      issuer: issuer.issuer,
      jwksUri: undefined,
      audience: 'relay',
      algorithms: ['ES256'],
      requiredClaims: [],
      maxLifetimeHours: 24,
      holder: 'account',
      matchedBy: 'identity',
      claim: 'sub',
      organizationId: undefined,
      teamId: undefined,
      ...changes,
    });
    await eventually(() => expect(other.get(TokenIssuers).current(id)).toBeDefined());
    return id;
  };
  const token = (claims: Claims = {}): Promise<string> => issuer.token({ sub: subject, ...claims });
  const call = (bearer: string, model = 'm'): Promise<Response> =>
    relay.post('/v1/responses', bearer, aRequest('responses', { model }));
  const statusOf = async (bearer: string): Promise<number> => {
    const response = await call(bearer);
    await response.text();
    return response.status;
  };
  const reasonOf = async (bearer: string): Promise<string> =>
    expectError('responses', await call(bearer), INVALID_TOKEN);
  /** The key's ID in each process, or why there is none. Passport, which HTTP goes through, is shared by both. */
  const inBoth = (bearer: string): Promise<readonly string[]> =>
    Promise.all(
      [relay, other].map((at) =>
        at
          .get(KeyAuthenticator)
          .callerIn({ authorization: `Bearer ${bearer}` }, [], '127.0.0.1')
          .then(({ keyId }) => keyId)
          .catch((error: Error) => error.message),
      ),
    );
  const expectInBoth = (bearer: string, expected: string): Promise<void> =>
    eventually(async () => {
      const reason = expect.stringContaining(expected) as unknown;
      expect(await inBoth(bearer)).toEqual([reason, reason]);
    }, FOLLOWS_MS);
  const keys = (name = subject): Promise<KeyRow[]> => sql('SELECT * FROM api_keys WHERE name = $1', [name]);
  const onlyKey = async (name = subject): Promise<KeyRow> => {
    const [key, ...more] = await keys(name);
    if (key === undefined || more.length > 0) throw new Error(`${more.length} more keys`);
    return key;
  };
  /** An organization with credit, a team, and the owner as its member. */
  const anOrganization = async () => {
    const { accountId: organizationId } = await relay.caller({ credit: '5' });
    const [teamId, memberId] = [`team_${organizationId}`, `mem_${organizationId}`];
    await sql(`UPDATE accounts SET kind = 'organization', name = 'Acme Inc' WHERE id = $1`, [organizationId]);
    await sql('INSERT INTO organizations (id) VALUES ($1)', [organizationId]);
    await sql(`INSERT INTO teams (id, organization_id, name) VALUES ($1, $2, 'Research')`, [teamId, organizationId]);
    await sql(
      `INSERT INTO members (id, organization_id, account_id, role, team_id) VALUES ($1, $2, $3, 'member', $4)`,
      [memberId, organizationId, owner.accountId, teamId],
    );
    return { organizationId, teamId, memberId };
  };

  it('pay from the linked account with one key per subject, in the usage log under its name', async () => {
    await accept();
    const concurrent = [statusOf(await token()), inBoth(await token()), inBoth(await token({ jti: 'other' }))];
    const [status, ...ids] = (await Promise.all(concurrent)).flat();
    const key = await onlyKey();
    expect(key).toMatchObject({ account_id: owner.accountId, hint: 'Acme', member_id: null, team_id: null });
    expect([status, new Set(ids)]).toEqual([200, new Set([key.id])]);
    const calls = await sql('SELECT key_id, status FROM calls WHERE account_id = $1', [owner.accountId]);
    expect(calls).toEqual([{ key_id: key.id, status: 'succeeded' }]);
    const description = await fetch(`${relay.url}/v1/key`, { headers: { 'x-api-key': await token() } });
    expect(await description.json()).toMatchObject({ name: subject, token_issuer: 'Acme', wallet: {} });
    const [entry] = await sql('SELECT actor_kind, lines FROM audit_entries WHERE object_id = $1', [key.id]);
    expect(entry).toEqual({ actor_kind: 'system', lines: ['by a token of Acme'] });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  it.each(PROTOCOLS)('are refused in %s if they expired, in the words of the protocol', async (protocol) => {
    await accept();
    const old = await token({ exp: Math.floor(Date.now() / 1000) - 61 });
    const response = await relay.post(PATHS[protocol], old, aRequest(protocol));
    expect(await expectError(protocol, response, INVALID_TOKEN)).toBe(
      'Invalid token: the JWT expired. Request a new one from its issuer.',
    );
    expect(await keys()).toEqual([]);
  });

  it('are refused when forged', async () => {
    await accept();
    const claims = issuer.claims({ sub: subject });
    expect(await reasonOf(unsignedToken(claims))).toContain('("alg") is not accepted');
    expect(await reasonOf(hmacToken(issuer.key, claims))).toContain('("alg") is not accepted');
    const foreign = await issuerKey();
    expect(await reasonOf(await tokenOf(foreign, claims, { kid: issuer.key.jwk.kid }))).toContain('signature is wrong');
    expect(await reasonOf(await tokenOf(foreign, claims))).toContain('does not publish');
    expect(await reasonOf(await token({ iss: 'https://evil.example' }))).toContain('issuer ("iss") is not accepted');
    expect(await reasonOf(await token({ aud: 'other' }))).toContain('another audience');
    expect(await keys()).toEqual([]);
  });

  it('do not invalidate a key in another header', async () => {
    await accept();
    const headers = { authorization: `Bearer ${await token({ exp: 1 })}`, 'x-api-key': owner.key };
    expect((await fetch(`${relay.url}/v1/key`, { headers })).status).toBe(200);
  });

  it('are refused if their subject has no account', async () => {
    await accept();
    expect(await reasonOf(await token({ sub: 'unknown' }))).toContain('its subject has no account here');
    expect(await keys('unknown')).toEqual([]);
  });

  it('name the account with the verified email address only if the issuer may', async () => {
    await accept({ audience: 'by-email', matchedBy: 'email' });
    const claims = { aud: 'by-email', sub: `mail-${subject}`, email: owner.email.toUpperCase(), email_verified: true };
    expect(await reasonOf(await token(claims))).toContain('no account here');
    await sql('UPDATE accounts SET verified_at = now() WHERE id = $1', [owner.accountId]);
    expect(await reasonOf(await token({ ...claims, email_verified: false }))).toContain('no account here');
    expect(await statusOf(await token(claims))).toBe(200);
    expect(await onlyKey(`mail-${subject}`)).toMatchObject({ account_id: owner.accountId });
    await accept();
    expect(await reasonOf(await token({ ...claims, aud: 'relay' }))).toContain('no account here');
  });

  it('are refused once their subject belongs to another account', async () => {
    await accept();
    expect(await statusOf(await token())).toBe(200);
    const { accountId } = await relay.caller();
    await sql('UPDATE linked_identities SET account_id = $1 WHERE subject = $2', [accountId, subject]);
    expect(await reasonOf(await token())).toContain('now belongs to another account');
    await sql('DELETE FROM linked_identities WHERE subject = $1', [subject]);
    expect(await reasonOf(await token())).toContain('no account here');
  });

  it('of members are paid by the organization, and refused within a second of leaving', async () => {
    const { organizationId, memberId, teamId } = await anOrganization();
    await accept({ holder: 'member', organizationId });
    const bearer = await token();
    expect(await statusOf(bearer)).toBe(200);
    expect(await onlyKey()).toMatchObject({ account_id: organizationId, member_id: memberId, team_id: teamId });
    await sql(`UPDATE members SET state = 'left', left_at = now() WHERE id = $1`, [memberId]);
    const { id } = await onlyKey();
    await sql(`SELECT pg_notify('switchboard', $1)`, [JSON.stringify({ topic: 'key', payload: { id } })]);
    await expectInBoth(bearer, 'may not use keys of this organization');
    expect(await reasonOf(await token())).toContain('may not use keys of this organization');
  });

  it('of services are named by the claim of their issuer, and need its required claims', async () => {
    const { organizationId, teamId } = await anOrganization();
    const restricted = { requiredClaims: ['repository_owner=acme'], claim: 'repository' };
    await accept({ holder: 'service', matchedBy: undefined, organizationId, teamId, ...restricted });
    const repository = `acme/${subject}`;
    expect(await reasonOf(await token({ repository, repository_owner: 'evil' }))).toContain('lacks a claim');
    expect(await statusOf(await token({ repository, repository_owner: 'acme' }))).toBe(200);
    expect(await onlyKey(repository)).toMatchObject({
      account_id: organizationId,
      member_id: null,
      team_id: teamId,
    });
  });

  it('obey the quota of their key', async () => {
    await accept();
    await statusOf(await token());
    const { id } = await onlyKey();
    await relay.get(ApiKeyService).setBudgets(id, { daily: parseUsd('0.01') });
    const response = await call(await token(), 'fee');
    expect(response.status).toBe(429);
    expect(await response.text()).toContain('insufficient quota');
  });

  it('are refused in all processes while their key is disabled, and after its deletion until it is enabled', async () => {
    await accept();
    const bearer = await token();
    expect(await statusOf(bearer)).toBe(200);
    const { id } = await onlyKey();
    await expectInBoth(bearer, id);
    const keysOf = relay.get(ApiKeyService);
    await keysOf.disable(id);
    await expectInBoth(bearer, 'is disabled');
    await keysOf.enable(id);
    await expectInBoth(bearer, id);
    await keysOf.delete(id);
    await expectInBoth(bearer, 'was deleted');
    expect(await reasonOf(await token())).toContain('was deleted');
    expect(await keys()).toHaveLength(1);
    await keysOf.enable(id);
    await expectInBoth(bearer, id);
    const { id: secretKey } = await keysOf.create({ accountId: owner.accountId, name: 'other' });
    await keysOf.delete(secretKey);
    await expect(keysOf.enable(secretKey)).rejects.toThrow('is deleted');
  });

  it('are refused within a second of the suspension of the account', async () => {
    await accept();
    const bearer = await token();
    await expectInBoth(bearer, 'key_');
    await relay.get(AccountStatus).disable(owner.accountId);
    await expectInBoth(bearer, 'suspended');
    expect(await reasonOf(bearer)).toContain('suspended');
  });

  it('are refused in all processes once the issuer is deleted or no longer allows their algorithm', async () => {
    const id = await accept();
    const issuers = relay.get(TokenIssuers);
    const bearer = await token();
    await expectInBoth(bearer, 'key_');
    await issuers.change(id, { ...(await issuers.get(id)), algorithms: ['RS256'] }, 1);
    await expectInBoth(bearer, '("alg")');
    await issuers.remove(id);
    await expectInBoth(bearer, '("iss")');
  });

  it('get another response than invalid ones while the issuer is unreachable, unless its keys are known', async () => {
    await accept();
    await expectInBoth(await token(), 'key_');
    await issuer.rotate();
    expect(await reasonOf(await token())).toContain('does not publish');
    await accept({ audience: 'rotated' });
    const bearer = await token({ aud: 'rotated' });
    expect(await statusOf(bearer)).toBe(200);
    issuer.isDown = true;
    expect(await statusOf(await token({ aud: 'rotated', jti: 'next' }))).toBe(200);
    await accept({ audience: 'unknown' });
    const response = await call(await token({ aud: 'unknown' }));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.text()).toContain('Acme cannot be reached');
  });

  it('may expire while a call runs, but not before it', async () => {
    await accept();
    // A minute is granted for clocks.
    const bearer = await token({ exp: Math.floor(Date.now() / 1000) - 57 });
    const socket = await SocketClient.open(relay.url, bearer);
    const held = gate();
    relay.upstream.script([waitFor(held), responseIn('responses')]);
    const running = call(bearer);
    await relay.upstream.nextRequest();
    const headers = { authorization: `Bearer ${bearer}` };
    await eventually(async () => expect((await fetch(`${relay.url}/v1/key`, { headers })).status).toBe(401));
    held.open();
    expect((await running).status).toBe(200);
    socket.create({ model: 'm', input: 'Hello' });
    expect(JSON.stringify(await socket.message('error'))).toContain('the JWT expired');
    socket.socket.close();
  });

  it('read what earlier tokens of the subject stored, and no other subject does', async () => {
    await accept();
    const created = await relay.post('/v1/conversations', await token(), { metadata: { topic: 'trip' } });
    const { id } = (await created.json()) as { id: string };
    const get = async (bearer: string) =>
      fetch(`${relay.url}/v1/conversations/${id}`, { headers: { authorization: `Bearer ${bearer}` } });
    expect(await (await get(await token({ jti: 'next' }))).json()).toMatchObject({ metadata: { topic: 'trip' } });
    expect((await get(owner.key)).status).toBe(404);
  });

  it('appear nowhere in the database', async () => {
    await accept();
    const [header = '', payload = '', signature = ''] = (await token()).split('.');
    await statusOf([header, payload, signature].join('.'));
    await statusOf([header, payload, `${signature}x`].join('.'));
    for (const { name } of await sql<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    )) {
      const [found] = await sql<{ count: number }>(
        `SELECT count(*)::int AS count FROM "${name}" t WHERE t::text LIKE $1 OR t::text LIKE $2`,
        [`%${payload.slice(0, 60)}%`, `%${signature.slice(0, 40)}%`],
      );
      expect([name, found?.count]).toEqual([name, 0]);
    }
  });
});
