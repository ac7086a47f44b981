import { CatalogService } from '../../src/catalog/index.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';

const PAGE = '/admin/settings/limits';

describe('default limits in the settings', () => {
  let relay: RelayApp;
  let operator: PageVisitor;
  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(() => relay.close());

  const revisionOf = ({ text }: PageResponse, kind: string): string =>
    new RegExp(`action="${PAGE}/${kind}".*?name="revision" value="([^"]+)"`, 's').exec(text)?.[1] ?? '';
  const typed = (changes: Record<string, string>) => ({
    callsPerMinute: '',
    tokensPerMinute: '',
    concurrency: '',
    ...changes,
  });
  const save = async (kind: string, changes: Record<string, string>): Promise<PageResponse> => {
    const revision = revisionOf(await operator.get(PAGE), kind);
    return operator.post(`${PAGE}/${kind}`, { revision, ...typed(changes) });
  };
  const usual = async () => {
    await relay.get(CatalogService).reload();
    return relay.get(CatalogService).current().defaultLimits;
  };

  it('change the catalog: saved values apply, and empty ones are removed', async () => {
    await relay.applyCatalog('limits: { account: { concurrency: 9 } }');
    expect((await save('key', { callsPerMinute: '1,000', concurrency: '4' })).location).toBe(PAGE);
    expect((await operator.get(PAGE)).text).toContain('Default limits saved');
    expect(await usual()).toEqual({
      key: { requestsPerMinute: 1000, concurrency: 4 },
      account: { concurrency: 9 },
      address: {},
    });
    await save('key', { concurrency: '4' });
    expect((await usual()).key).toEqual({ concurrency: 4 });
  });

  it('show errors at the fields, and change nothing', async () => {
    const before = await usual();
    const { status, text } = await save('address', { callsPerMinute: '0', tokensPerMinute: 'many' });
    expect(status).toBe(422);
    expect(text).toMatch(/id="address-callsPerMinute-error">.*?Enter a whole number of 1 or more/s);
    expect(text).toContain('href="#address-tokensPerMinute"');
    expect(text).toContain('value="many"');
    expect(await usual()).toEqual(before);
  });

  it('show both values when a catalog file changed them meanwhile', async () => {
    const revision = revisionOf(await operator.get(PAGE), 'account');
    await relay.applyCatalog('limits: { account: { concurrency: 7 } }');
    const mine = typed({ concurrency: '3' });
    const refused = await operator.post(`${PAGE}/account`, { revision, ...mine });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('<li>Concurrent calls: now <b>7</b>, yours <b>3</b></li>');
    expect((await usual()).account).toEqual({ concurrency: 7 });
    await operator.post(`${PAGE}/account`, { revision: revisionOf(refused, 'account'), ...mine });
    expect((await usual()).account).toEqual({ concurrency: 3 });
  });

  it('exist only for API keys, accounts and IP addresses', async () => {
    expect((await save('planet', { concurrency: '3' })).status).toBe(404);
  });
});
