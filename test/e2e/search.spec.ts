import { operatorVisit } from '../support/operator-visit.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

describe('the search of the console', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let browser: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
    ann = await relay.caller();
    browser = await signedIn(relay, ann.accountId);
  });
  afterAll(() => relay.close());

  const linksFor = async (query: string, visitor = browser): Promise<string[]> => {
    const { text } = await visitor.get(`/search?q=${encodeURIComponent(query)}`);
    const results = /id="results"([^]*?)<\/main>/.exec(text)?.[1] ?? '';
    return [...results.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
  };

  it('finds pages, own keys, models and docs', async () => {
    expect(await linksFor('')).toContain('/wallet');
    expect(await linksFor('wall')).toEqual(['/wallet']);
    expect(await linksFor('test key')).toEqual([`/keys/${ann.keyId}`]);
    expect(await linksFor('only-chat')).toEqual(['/pricing/only-chat']);
    expect(await linksFor('streaming')).toEqual(['/docs/streaming']);
    expect((await browser.get('/search?q=%3Cb%3E')).text).toContain('Nothing found for “&lt;b&gt;”.');
  });

  it('finds own calls by request ID, and those of others for administrators only', async () => {
    await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello' });
    const { id } = await relay.onlyCall(ann);
    const other = await signedIn(relay, (await relay.caller()).accountId);
    const { browser: admin } = await operatorVisit(relay);
    expect(await linksFor(id)).toEqual([`/usage-logs/common/${id}`]);
    expect(await linksFor(id, other)).toEqual([]);
    expect(await linksFor(id, admin)).toEqual([`/admin/calls/${id}`]);
  });

  it('finds users and pages of the admin console for administrators only', async () => {
    const { browser: admin } = await operatorVisit(relay);
    expect(await linksFor(ann.email, admin)).toEqual([`/admin/users/${ann.accountId}`]);
    expect(await linksFor('dry run', admin)).toEqual(['/admin/routing']);
    expect(await linksFor(ann.email)).toEqual([]);
    expect(await linksFor('dry run')).toEqual([]);
  });

  it('removes an API key from the address', async () => {
    const response = await browser.get(`/search?q=${ann.key}`);
    expect(response.location).toBe('/search');
    expect((await browser.get('/search')).text).toContain('API keys cannot be searched for');
  });

  it('requires a signed-in user', async () => {
    expect((await new PageVisitor(relay.url).get('/search?q=m')).location).toMatch(/^\/sign-in/);
  });
});
