import { eventually } from '../support/eventually.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';

/** Names that mean something else in an address, and one that only looks like what these become. */
const MODELS = ['new', '.', '..', 'a/../b', 'new/new', 'named', 'vendor/m?x#y%20&z+1'];
const GROUPS = ['new', '..', 'a/b', 'x?y#z%&+'];

const catalog = `
groups: [${GROUPS.map((name) => `{ name: ${JSON.stringify(name)} }`).join(', ')}]
models:
${MODELS.map((name) => `  - { name: ${JSON.stringify(name)}, context_window: 10, max_output_tokens: 10, prices: free }`).join('\n')}
`;

describe('unusual model and group names', () => {
  let relay: RelayApp;
  let operator: PageVisitor;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog);
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(() => relay.close());

  const unescaped = (text: string): string =>
    text.replaceAll('&#x3D;', '=').replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&');
  /** Where the page's links of this kind of thing lead, by the words of the link. */
  const linksOf = async (list: string): Promise<ReadonlyMap<string, string>> => {
    const { text } = await operator.get(list);
    const links = [...text.matchAll(/<a class="plain" href="([^"]*)">([^<]*)<\/a>/g)];
    return new Map(links.map(([, href = '', words = '']) => [unescaped(words), unescaped(href)]));
  };

  it.each(MODELS)('the model list links to %s, which can be disabled', async (name) => {
    const href = (await linksOf('/admin/models')).get(name)!;
    const page = await operator.get(href);
    expect([page.status, unescaped(/<h1[^>]*>([^<]*)/.exec(page.text)?.[1] ?? '').trim()]).toEqual([200, name]);
    const address = unescaped(/action="(\/admin\/switch-model\/[^"]*)"/.exec(page.text)?.[1] ?? '');
    const switched = await operator.post(address, { to: 'off' });
    expect(new URL(switched.location, relay.url).href).toBe(new URL(href, relay.url).href);
    expect((await operator.follow(switched)).text).toContain(' disabled');
  });

  it.each(GROUPS)('the group list links to %s, which can be saved', async (name) => {
    const href = (await linksOf('/admin/groups')).get(name)!;
    const page = await operator.get(href);
    expect([page.status, unescaped(/<h1[^>]*>([^<]*)/.exec(page.text)?.[1] ?? '').trim()]).toEqual([200, name]);
    const revision = /name="revision" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const saved = await operator.post(href, { multiplier: '0.5', choice: 'everyone', revision });
    expect((await operator.follow(saved)).text).toContain(' saved');
  });

  it('the creation forms keep their URLs', async () => {
    for (const [path, title] of [
      ['/admin/models/new', 'Add model'],
      ['/admin/groups/new', 'Add group'],
    ] as const)
      expect((await operator.get(path)).text).toContain(`<title>${title}`);
  });

  it('the model page links to calls of this model only', async () => {
    const { key } = await relay.caller();
    for (const model of ['free', 'm'])
      await relay.post('/v1/chat/completions', key, { model, messages: [{ role: 'user', content: 'Hi' }] });
    const callsOf = ({ text }: PageResponse): string | undefined =>
      /href="(\/admin\/calls\?model=[^"]*)"/.exec(unescaped(text))?.[1];
    expect(callsOf(await operator.get('/admin/models/free'))).toBe('/admin/calls?model=free');
    await eventually(async () => {
      const { text } = await operator.get('/admin/calls?model=free');
      const rows = text.match(/id="c-req_/g);
      expect(rows).toHaveLength(1);
    });
    const odd = await operator.get((await linksOf('/admin/models')).get('vendor/m?x#y%20&z+1')!);
    expect(callsOf(odd)).toBe('/admin/calls?model=vendor%2Fm%3Fx%23y%2520%26z%2B1');
  });
});
