import { DataSource } from 'typeorm';
import { CatalogExport } from '../../src/catalog/channels/index.js';
import { parse } from 'yaml';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const MARKUP = `"><img/src=x/onerror=alert(1)>`;

/** The names of models in a list of prices, in its order. */
const namesIn = (html: string): string[] =>
  [...html.matchAll(/id="model-\d+" href="[^"]*">([^<]+)</g)].map(([, name]) => name ?? '');
/** `default, × 1.00`, as groups are offered. */
const groupsIn = (html: string): string[] =>
  [...(/<select[^>]*name="group">(.*?)<\/select>/s.exec(html)?.[1] ?? '').matchAll(/>([^<]+)<\/option>/g)].map(
    ([, label]) => label ?? '',
  );

describe('pages that sum up and explain', () => {
  let relay: RelayApp;
  let caller: TestCaller;

  beforeAll(async () => (relay = await RelayApp.start({}, { PUBLIC_URL: 'http://relay.example' })));
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());

  const otherUser = (): PageVisitor => new PageVisitor(relay.url);

  it('are not cached by browsers when they have forms with an address or a token, even without a session', async () => {
    for (const path of ['/sign-in', '/register', '/forgot', '/verify/link?token=nonsense', '/nowhere'])
      expect([path, (await otherUser().get(path)).headers.get('cache-control')]).toEqual([path, 'no-store']);
    expect((await otherUser().get('/pricing')).headers.get('cache-control')).toBe('private, no-cache');
  });

  it('describe themselves to search engines, unless somebody is signed in', async () => {
    const description = async (visitor: PageVisitor, path: string): Promise<string | undefined> =>
      /<meta name="description" content="([^"]+)">/.exec((await visitor.get(path)).text)?.[1];
    const paths = ['/', '/pricing', '/pricing/m', '/register'];
    const found = await Promise.all(paths.map((path) => description(otherUser(), path)));
    expect(found.every((text) => text !== undefined && text.length > 40)).toBe(true);
    expect(new Set(found).size).toBe(paths.length);
    expect(await description(otherUser(), '/docs')).toBeDefined();
    expect(await description(await signedIn(relay, caller.accountId), '/pricing')).toBeUndefined();
  });

  describe('at the address itself', () => {
    it('are the landing page for a browser, and a probe for a program, which is given no cookie', async () => {
      const page = await otherUser().get('/');
      expect(page.text).toContain('One address.');
      expect(page.headers.get('vary')).toMatch(/^accept, accept-encoding/);
      const probe = await fetch(relay.url);
      expect(await probe.json()).toEqual({ status: 'ok' });
      expect(probe.headers.get('set-cookie')).toBeNull();
    });

    it('show where the service is, whatever host was asked for, and prices of its catalog', async () => {
      const { text } = await otherUser().get('/');
      expect(text).toContain('http://relay.example');
      // 6,610 × $1 + 41,600 × $0.1 + 640 × $10, a million each.
      expect(text.replaceAll(/<[^>]+>/g, '')).toContain('Charged$0.017170');
    });

    it('are the dashboard signed-in users, of their own calls alone', async () => {
      await (await relay.post('/v1/responses', caller.key, { model: 'm', input: 'hello' })).text();
      const [mine] = await relay.calls(caller);
      const own = await (await signedIn(relay, caller.accountId)).get('/');
      expect(own.text).toMatch(/Good (morning|afternoon|evening)/);
      expect(own.text).toContain(`/usage-logs/common/${mine?.id}`);
      expect(own.text).not.toContain('Needs attention');
      expect(own.headers.get('cache-control')).toBe('no-store');
      const other = await relay.caller();
      const theirs = await (await signedIn(relay, other.accountId)).get('/');
      expect(theirs.text).not.toContain(mine?.id);
      expect(theirs.text).toContain('Get started');
    });

    it('lead users with an unverified address to its verification', async () => {
      const browser = await signedIn(relay, caller.accountId);
      await relay.get(DataSource).query('UPDATE accounts SET verified_at = NULL WHERE id = $1', [caller.accountId]);
      expect(await browser.get('/')).toMatchObject({ status: 303, location: '/verify' });
      expect((await browser.get('/pricing')).status).toBe(200);
    });

    it.each(['7', '14', '30', '9999', 'x', ''])('show %j days of spending, or fourteen', async (days) => {
      await (await relay.post('/v1/responses', caller.key, { model: 'm', input: 'hello' })).text();
      const { text } = await (await signedIn(relay, caller.accountId)).get(`/?days=${days}`);
      expect(text).toContain(`in the last ${['7', '14', '30'].includes(days) ? days : '14'} days`);
    });

    it('write a name that is markup as text', async () => {
      const account = await relay.caller();
      await relay
        .get(DataSource)
        .query('UPDATE api_keys SET name = $2, quota = used WHERE account_id = $1', [account.accountId, MARKUP]);
      for (let call = 0; call < 3; call += 1)
        await relay.post('/v1/responses', account.key, { model: MARKUP, input: 'hello' });
      const { text } = await (await signedIn(relay, account.accountId)).get('/');
      expect(text).toContain('onerror&#x3D;alert(1)');
      expect(text).not.toContain('<img');
    });
  });

  describe('of prices', () => {
    it.each(['default', 'saver'])('name the models that GET /v1/models names to a key of group %s', async (group) => {
      const { key } = await relay.caller({ group });
      const listed = await fetch(`${relay.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await listed.json()) as { data: { id: string }[] };
      const { text } = await otherUser().get(`/pricing?group=${group}`);
      expect(namesIn(text)).not.toEqual([]);
      expect(namesIn(text).toSorted()).toEqual(data.map(({ id }) => id).toSorted());
    });

    it('name the models, groups and multipliers of the exported catalog', async () => {
      const { text } = await relay.get(CatalogExport).export();
      const catalog = parse(text) as {
        groups: { name: string; multiplier: number }[];
        models: { name: string; groups: string[] }[];
        channels: { models: Record<string, string>; groups: string[] }[];
      };
      const { text: html } = await otherUser().get('/pricing');
      expect(groupsIn(html).toSorted()).toEqual(
        catalog.groups.map(({ name, multiplier }) => `${name}, × ${multiplier.toFixed(2)}`).toSorted(),
      );
      for (const { name } of catalog.groups) {
        const served = catalog.channels.filter(({ groups }) => groups.includes(name));
        const expected = catalog.models
          .filter((model) => model.groups.includes(name) && served.some(({ models }) => model.name in models))
          .map((model) => model.name);
        expect(namesIn((await otherUser().get(`/pricing?group=${name}`)).text).toSorted()).toEqual(expected.toSorted());
      }
    });

    it("show one's own group first, and every other one", async () => {
      const { accountId } = await relay.caller({ group: 'saver' });
      const { text } = await (await signedIn(relay, accountId)).get('/pricing');
      expect(groupsIn(text)).toEqual(['saver, × 0.80', 'default, × 1.00']);
      expect(text).toContain('models in group saver');
      expect(text).toContain('$0.80');
    });

    it('keep what was asked for in their address', async () => {
      const { text } = await otherUser().get('/pricing?q=ONLY&endpoint=chat-completions&group=default&sort=context');
      expect(namesIn(text)).toEqual(['only-chat']);
      expect(text).toMatch(
        /value="ONLY"[^]*<option value="chat-completions" selected>[^]*<option value="context" selected>/,
      );
      const none = await otherUser().get('/pricing?q=only&endpoint=messages');
      expect(none.text).toContain('No models match');
      expect(none.text).toContain('href="/pricing?group&#x3D;default"');
    });

    it.each(['/pricing/vendor/with-slash', '/pricing/vendor%2Fwith-slash'])(
      'have a page for a model at %s',
      async (path) => {
        const { status, text } = await otherUser().get(path);
        expect(status).toBe(200);
        expect(text).toContain('&quot;model&quot;: &quot;vendor/with-slash&quot;');
      },
    );

    it.each(['/pricing/unserved', '/pricing/nothing', '/pricing/m%00', '/pricing/%ff'])(
      'have none at %s',
      async (path) => {
        expect((await otherUser().get(path)).status).toBe(404);
      },
    );

    it('leave out a model that was disabled, and write names and descriptions that are markup as text', async () => {
      const catalog = (models: string): string => `
groups: [{ name: odd, multiplier: 1.5, description: '${MARKUP}' }]
models: ${models}
channels:
  - { name: odd, protocol: messages, base_url: ${relay.upstream.url}, auth: none, groups: [odd], models: ['${MARKUP}', gone] }
`;
      const entry = (name: string, more = ''): string =>
        `{ name: '${name}', display_name: '${MARKUP}', owned_by: '${MARKUP}', context_window: 9000, max_output_tokens: 10, groups: [odd], prices: free${more} }`;
      await relay.applyCatalog(
        catalog(`[${entry(MARKUP, `, capabilities: ['${MARKUP.replaceAll(/\W/g, '')}']`)}, ${entry('gone')}]`),
      );
      await relay.get(DataSource).query(`UPDATE models SET enabled = false WHERE name = 'gone'`);
      await relay.applyCatalog(`groups: [{ name: other, multiplier: 1 }]\nmodels: []\nchannels: []`);
      const pages = [
        await otherUser().get('/pricing?group=odd'),
        await otherUser().get(`/pricing/${encodeURIComponent(MARKUP)}?group=odd`),
        await otherUser().get(`/pricing?group=odd&q=${encodeURIComponent(MARKUP)}`),
      ];
      for (const { status, text } of pages) {
        expect(status).toBe(200);
        expect(text).toContain('onerror&#x3D;alert(1)');
        expect(text).not.toContain('<img');
      }
      expect(namesIn(pages[0]?.text ?? '')).toHaveLength(1);
      expect((await otherUser().get('/pricing/gone')).status).toBe(404);
    });
  });
});

describe.each([
  ['open', 'href="/register"', 'Create account'],
  ['invite', 'You need an invitation code', 'Create account'],
  ['closed', 'mailto:operator@example.com', 'Request access'],
])('with sign-up %s', (signUp, shown, action) => {
  it('the landing page offers what is possible', async () => {
    const relay = await RelayApp.start({}, { SIGN_UP: signUp, SUPPORT_CONTACT: 'operator@example.com' });
    try {
      const { text } = await new PageVisitor(relay.url).get('/');
      expect(text).toContain(shown);
      expect(text).toContain(action);
      expect(text.includes('href="/register"')).toBe(signUp !== 'closed');
    } finally {
      await relay.close();
    }
  });
});
