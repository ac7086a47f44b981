import { DataSource } from 'typeorm';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';
const FORGED: Readonly<Record<string, string>> = {
  'x-forwarded-for': '198.51.100.7',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-port': '444',
  'x-real-ip': '198.51.100.7',
  'true-client-ip': '198.51.100.7',
  'cf-connecting-ip': '198.51.100.7',
  forwarded: 'for=198.51.100.7;host=evil.example;proto=https',
};

describe('the client address of a request', () => {
  let relay: RelayApp;
  let made = 0;
  const start = (environment: Record<string, string> = {}): void => {
    beforeAll(async () => (relay = await RelayApp.start({}, environment)));
    afterAll(() => relay.close());
  };

  /** The address on the row of a call with these headers. */
  async function ipOfCall(headers: Readonly<Record<string, string>>): Promise<unknown> {
    const caller = await relay.caller();
    const response = await relay.post(PATHS.messages, caller.key, aRequest('messages'), headers);
    expect(response.status).toBe(200);
    return (await relay.onlyCall(caller))['ip'];
  }

  const anAccount = async (): Promise<string> => {
    const email = `user${++made}@example.com`;
    await relay.get(Onboarding).createAccount({ email, name: 'Ann', password: new Secret(PASSWORD), verified: true });
    return email;
  };

  /** The address on a session that was begun with these headers, and the response that began it. */
  async function session(headers: Readonly<Record<string, string>>): Promise<{ ip: unknown; visited: PageResponse }> {
    const visited = await new PageVisitor(relay.url, headers).signIn(await anAccount(), PASSWORD);
    expect(visited.status).toBe(303);
    const [row] = await relay
      .get(DataSource)
      .query<{ ip: string }[]>('SELECT ip FROM sessions ORDER BY created_at DESC LIMIT 1');
    return { ip: row?.ip, visited };
  }

  /** Where a lost program is told to go. */
  async function baseAddress(headers: Readonly<Record<string, string>>): Promise<string> {
    const caller = await relay.caller();
    const response = await fetch(`${relay.url}/v1/nothing`, {
      headers: { authorization: `Bearer ${caller.key}`, ...headers },
    });
    return /base URL is (\S+)\/v1/.exec(await response.text())?.[1] ?? '';
  }

  describe.each([
    ['when no proxy is believed', {}],
    ['when only proxies elsewhere are believed', { TRUSTED_PROXIES: '10.0.0.1,192.0.2.0/24' }],
  ])('%s', (_, environment: Record<string, string>) => {
    start(environment);

    it('is not believed of an address, on calls or on sessions', async () => {
      expect(await ipOfCall(FORGED)).toBe('127.0.0.1');
      expect((await session(FORGED)).ip).toBe('127.0.0.1');
    });

    it('is not believed of a host or a scheme', async () => {
      expect(await baseAddress(FORGED)).toBe(relay.url);
      const { visited } = await session(FORGED);
      expect(visited.headers.getSetCookie().join()).not.toMatch(/secure|__Host-/i);
      expect(visited.location).not.toContain('evil');
    });

    it('does not change the address that attempts are counted by', async () => {
      const email = await anAccount();
      const responses = [];
      for (let index = 0; index < 12; index++)
        responses.push(
          await new PageVisitor(relay.url, { ...FORGED, 'x-forwarded-for': `198.51.100.${index}` }).signIn(email, 'no'),
        );
      expect(responses.at(-1)?.status).toBe(429);
      const subjects = await relay.get(DataSource).query('SELECT * FROM throttles');
      expect(JSON.stringify(subjects)).not.toContain('198.51.100');
    });
  });

  describe('when the proxy before it is believed', () => {
    start({ TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8', PUBLIC_URL: 'https://relay.example.com' });

    it.each([
      ['203.0.113.9', '203.0.113.9'],
      ['2001:db8::7', '2001:db8::7'],
      ['198.51.100.7, 203.0.113.9', '203.0.113.9'],
      ['198.51.100.7, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
      ['127.0.0.1, 203.0.113.9', '203.0.113.9'],
      ['203.0.113.9:50123', '203.0.113.9'],
      ['[2001:db8::7]:50123', '2001:db8::7'],
      ['unknown', '127.0.0.1'],
      ['<script>, 203.0.113.9, nonsense', '127.0.0.1'],
      [',,,', '127.0.0.1'],
    ])('is its last word that counts, before which anybody can write anything: %j', async (forwarded, ip) => {
      const headers = { 'x-forwarded-for': forwarded };
      expect(await ipOfCall(headers)).toBe(ip);
      expect((await session(headers)).ip).toBe(ip);
    });

    it('is no text of any length', async () => {
      expect(await ipOfCall({ 'x-forwarded-for': 'x'.repeat(8000) })).toBe('127.0.0.1');
    });

    it('is the headers of no other kind', async () => {
      const { 'x-forwarded-for': _, ...others } = FORGED;
      expect(await ipOfCall(others)).toBe('127.0.0.1');
    });

    it('decides neither links nor cookies: PUBLIC_URL does', async () => {
      const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
      expect(await baseAddress(headers)).toBe('https://relay.example.com');
      const visitor = new PageVisitor(relay.url, headers);
      const { headers: answered } = await visitor.get('/sign-in');
      expect(answered.getSetCookie().join()).toMatch(/^__Host-.*; Secure/);
    });
  });
});
