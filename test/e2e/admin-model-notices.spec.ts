import { DataSource } from 'typeorm';
import { eventually } from '../support/eventually.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { responseIn } from '../support/scripted-upstream.js';
import { operatorVisit } from '../support/operator-visit.js';

describe('the model list', () => {
  let relay: RelayApp;
  let operator: PageVisitor;
  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(() => relay.close());

  const call = async (model: string): Promise<void> => {
    const caller = await relay.caller();
    // As much text as there are tokens in the report, which is not believed otherwise.
    const text = ' Hello'.repeat(10_000);
    relay.upstream.scriptNext(responseIn('chat-completions', { text, usage: { prompt: 100_000, completion: 10_000 } }));
    const messages = [{ role: 'user', content: 'Hello '.repeat(16_000) }];
    const response = await relay.post('/v1/chat/completions', caller.key, { model, messages });
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
    await relay.onlyCall(caller);
  };
  /** The words of a model's row. */
  const rowOf = async (model: string): Promise<string> => {
    const { text } = await operator.get('/admin/models');
    const row = text.split('<tr role="row">').find((one) => one.includes(`>${model}</a>`)) ?? '';
    return row.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  };

  it('shows the margin over calls with a known cost, and their number', async () => {
    await relay.applyCatalog(`
channels:
  - { name: chat-completions-main, protocol: chat-completions, base_url: "${relay.upstream.url}", credentials: ["***"],
      models: { m: vendor-m, fee: vendor-fee, only-chat: chatty }, costs: { m: 0.25 }, flags: { nativeOnly: true } }`);
    await call('m');
    await call('fee');
    // 100,000 in at $1 and 10,000 out at $10 a million are $0.20, of which the upstream takes a quarter.
    await eventually(async () => expect(await rowOf('m')).toContain('$0.15 75%'));
    expect(await rowOf('fee')).not.toContain('%');
    const page = (await operator.get('/admin/models/m')).text;
    expect(page).toMatch(/chat-completions-main<\/span><b>\$0\.15 · 75%<\/b>/);
    expect((await operator.get('/admin/models/fee')).text).toContain('cost unknown');
    await relay.applyCatalog(`
channels:
  - { name: chat-completions-main, protocol: chat-completions, base_url: "${relay.upstream.url}", credentials: ["***"],
      models: { m: vendor-m, fee: vendor-fee, only-chat: chatty }, costs: {}, flags: { nativeOnly: true } }`);
    await call('m');
    await eventually(async () => expect(await rowOf('m')).toContain('$0.15 75%, based on 1 of 2 calls'));
  });

  it('reports models without a price, and models of channels that are not in the catalog', async () => {
    const sql = (text: string): Promise<unknown> => relay.get(DataSource).query(text);
    // Nothing of ours can make either: somebody else wrote to the database.
    await sql(
      `INSERT INTO models SELECT (jsonb_populate_record(m, '{"name": "priceless"}')).* FROM models m WHERE name = 'm'`,
    );
    await sql(`UPDATE channels SET models = models || '{"ghost/1": ["g"]}' WHERE name = 'messages-main'`);
    expect(await rowOf('priceless')).toContain('No price');
    const page = await operator.get('/admin/models');
    expect(page.text).toContain('Channels reference models without a price');
    expect(page.text).toMatch(
      /<b>ghost\/1<\/b>, used by messages-main: <a href="[^"]*name&#x3D;ghost%2F1">Add ghost\/1/,
    );
    expect((await operator.get('/admin/models/new?name=ghost%2F1')).text).toMatch(/name="name"[^>]* value="ghost\/1"/);
    expect((await operator.get('/admin/models/priceless')).text).toContain('no current prices');
  });
});
