import { DataSource } from 'typeorm';
import { KeyWatch } from '../../src/keys/index.js';
import { newId } from '../../src/platform/shared/index.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { aCallRow } from '../support/call-rows.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const DAY_MS = 86_400_000;
const AWAY = '203.0.113.7';

describe('the page of a key', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let browser: PageVisitor;
  beforeAll(async () => {
    relay = await RelayApp.start({}, { TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    ann = await relay.caller({ credit: '10' });
    browser = await signedIn(relay, ann.accountId);
  });

  const used = (agoMs: number): Promise<void> =>
    aCallRow(relay.get(DataSource), {
      id: newId('req', Date.now() - agoMs),
      accountId: ann.accountId,
      keyId: ann.keyId,
      ip: '192.0.2.1',
      cost: 1_234_567_891n,
    });
  const callFrom = async (address: string): Promise<void> => {
    const body = { ...aRequest('chat-completions'), model: 'fee' };
    const response = await relay.post(PATHS['chat-completions'], ann.key, body, { 'x-forwarded-for': address });
    expect(response.status).toBe(200);
  };
  const text = async (path: string): Promise<string> =>
    (await browser.get(path)).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

  it('tells of a call from a new network, here and on the first page, until its owner knows of it', async () => {
    await used(5 * DAY_MS);
    await callFrom(AWAY);
    await relay.get(KeyWatch).scan();
    const page = await text(`/keys/${ann.keyId}`);
    expect(page).toContain(`This key was used from a new network: ${AWAY} (`);
    expect(page).toContain('(203.0.113.0/24)');
    const home = await browser.get('/');
    expect(home.text).toContain(`was used from a new network: ${AWAY}`);
    const action = /action="(\/keys\/[^"]*\/notices\/[^"]*)"/.exec(home.text)?.[1] ?? '';
    const known = await browser.post(action, { back: '/' });
    expect([known.status, known.location]).toEqual([303, '/']);
    expect(await text('/')).not.toContain('Needs attention');
    expect(await text(`/keys/${ann.keyId}`)).not.toContain('This key was used');
    expect((await browser.post(action, { back: 'https://evil.example/' })).location).toBe(`/keys/${ann.keyId}`);
  });

  it('shows what its calls came to by address and model, to the nano-dollar, as the log of the same range does', async () => {
    await used(5 * DAY_MS);
    await used(3 * DAY_MS);
    await callFrom(AWAY);
    await callFrom(AWAY);
    const page = await text(`/keys/${ann.keyId}?range=7d`);
    expect(page).toContain('192.0.2.1 2 0 0 $2.46 9135782');
    expect(page).toContain(`${AWAY} 2 0 0 $0.04 0000`);
    expect(page).toContain('gpt-5.5 2 0 0 $2.46 9135782');
    expect(page).toContain('fee 2 0 0 $0.04 0000');
    const log = await text(`/usage-logs/common?range=7d&key=${ann.keyId}`);
    for (const figure of ['Calls 4', '$2.50']) expect([page, log].every((one) => one.includes(figure))).toBe(true);
    const day = await text(`/keys/${ann.keyId}?range=24h`);
    expect(day).toContain(`${AWAY} 2 0 0`);
    expect(day).not.toContain('192.0.2.1 2');
  });

  it('is its owner’s alone, never shows the key, and is there for a deleted key too', async () => {
    const bob = await signedIn(relay, (await relay.caller()).accountId);
    expect((await bob.get(`/keys/${ann.keyId}`)).status).toBe(404);
    expect((await bob.post(`/keys/${ann.keyId}/notices/ntc_1`, {})).status).toBe(404);
    for (const odd of ['key_none', 'x%00', '..']) expect((await browser.get(`/keys/${odd}`)).status).not.toBe(500);
    await relay.get(DataSource).query(`UPDATE api_keys SET state = 'deleted' WHERE id = $1`, [ann.keyId]);
    const { status, text: page } = await browser.get(`/keys/${ann.keyId}`);
    expect([status, page.includes('Deleted'), page.includes('Edit key')]).toEqual([200, true, false]);
    expect(page).not.toContain(ann.key.slice(8, -4));
  });

  it('is there for operators, who find it with the user', async () => {
    await used(DAY_MS);
    const { browser: operator } = await operatorVisit(relay);
    const path = `/admin/users/${ann.accountId}/keys/${ann.keyId}`;
    expect((await operator.get(`/admin/users/${ann.accountId}`)).text).toContain(`href="${path}"`);
    const { status, text: page } = await operator.get(path);
    expect([status, page.includes('192.0.2.1'), page.includes('Edit key')]).toEqual([200, true, false]);
    expect((await operator.get(`/admin/users/${ann.accountId}/keys/key_none`)).status).toBe(404);
    expect((await browser.get(path)).status).toBe(404);
  });
});
