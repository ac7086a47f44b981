import { DataSource } from 'typeorm';
import { CatalogExport } from '../../src/catalog/channels/index.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';

/** What the form of a model sends that says as little as it can. */
const FORM = {
  displayName: 'Large',
  ownedBy: 'acme',
  contextWindow: '400,000',
  maxOutputTokens: '64000',
  groups: ['default'],
  when: 'now',
  'tier-0-from': '0',
  'tier-0-input': '3.00',
  'tier-0-output': '15',
};

describe('model pages', () => {
  let relay: RelayApp;
  let operator: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(() => relay.close());

  const exported = async (): Promise<string> => (await relay.get(CatalogExport).export()).text;
  const revisionOf = ({ text }: PageResponse): string => /name="revision" value="([^"]*)"/.exec(text)?.[1] ?? '';
  const add = (
    name: string,
    fields: Readonly<Record<string, string | readonly string[]>> = {},
  ): Promise<PageResponse> => operator.submit('/admin/models/new', { ...FORM, name, ...fields });
  /** Opens the page of a model and sends its form with these fields. */
  const change = async (
    name: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<PageResponse> => {
    const page = await operator.get(`/admin/models/${name}`);
    return operator.post(`/admin/models/${name}`, { ...FORM, revision: revisionOf(page), ...fields });
  };
  const versions = async (model: string): Promise<number> =>
    (await relay.get(DataSource).query('SELECT id FROM price_versions WHERE model = $1', [model])).length;
  const audited = (model: string): Promise<{ lines: string[]; reason: string; action: string }[]> =>
    relay
      .get(DataSource)
      .query(`SELECT action, lines, reason FROM audit_entries WHERE object_id = $1 ORDER BY id`, [model]);

  it('create the same model as a catalog file', async () => {
    const added = await add('vendor/large-2.0', {
      'tier-0-cache_read': '0.30',
      'tier-0-cache_write_5m': '1,000.000000001',
      'tier-1-from': '200,000',
      'tier-1-input': '6',
      'tier-1-output': '22.50',
      requestFee: '$0.01',
      'effort-high': '1.5',
      serviceTiers: 'priority 2\nflex: 0.5',
      speeds: 'fast 6',
      geos: 'us × 1.10',
      toolFees: 'web_search 0.01',
      toolMaxUses: 'web_search 5',
      imageGeneration: 'text_input 5\nimage_output $30',
      'tier-1-cache_write_12h': '7',
      capabilities: 'vision\nefforts: low, high\nstopMax: 4',
      hiddenTokens: '80',
    });
    expect([added.status, added.location]).toEqual([303, '/admin/models/vendor/large-2.0']);
    expect(await exported()).toContain(`  - name: vendor/large-2.0
    display_name: Large
    owned_by: acme
    context_window: 400000
    max_output_tokens: 64000
    groups: [ default ]
    capabilities: [ { efforts: [ low, high ] }, { stopMax: 4 }, vision ]
    hidden_tokens_per_second: 80
    effort_multipliers: { high: 1.5 }
    service_tiers: { flex: 0.5, priority: 2 }
    speeds: { fast: 6 }
    geos: { us: 1.1 }
    tool_fees: { web_search: 0.01 }
    tool_max_uses: { web_search: 5 }
    image_generation: { text_input: 5, image_output: 30 }
    request_fee: 0.01
    prices:
      - { from_prompt_tokens: 0, input: 3, output: 15, cache_read: 0.3, cache_write_5m: 1000.000000001 }
      - { from_prompt_tokens: 200000, input: 6, output: 22.5, cache_write_12h: 7 }`);
    const page = await operator.get('/admin/models/vendor/large-2.0');
    expect(page.text).toContain('1,000.000000001');
    expect((await operator.get('/admin/models')).text).toContain('vendor/large-2.0');
  });

  it('keep unchanged values', async () => {
    const page = await operator.get('/admin/models/vendor/large-2.0');
    const before = await exported();
    const fields: Record<string, string | string[]> = {};
    for (const [, name = '', value = ''] of page.text.matchAll(/<input[^>]* name="([^"_][^"]*)"[^>]* value="([^"]*)"/g))
      if (
        !/type="checkbox"/.test(
          page.text.slice(
            page.text.lastIndexOf('<input', page.text.indexOf(`name="${name}"`)),
            page.text.indexOf(`name="${name}"`),
          ),
        )
      )
        fields[name] = value;
    for (const [, name = '', value = ''] of page.text.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>([^<]*)/g))
      fields[name] = value;
    const saved = await operator.post('/admin/models/vendor/large-2.0', {
      ...fields,
      groups: ['default'],
      when: 'now',
    });
    expect(saved.status).toBe(303);
    expect(await exported()).toBe(before);
    expect(await versions('vendor/large-2.0')).toBe(1);
  });

  it('create a price version when prices change, and none for other changes', async () => {
    await add('m1');
    await change('m1', { contextWindow: '500000' });
    expect(await versions('m1')).toBe(1);
    await change('m1', { contextWindow: '500000', 'tier-0-output': '16', reason: 'the vendor is dearer now' });
    expect(await versions('m1')).toBe(2);
    const page = await operator.get('/admin/models/m1');
    expect(page.text).toContain('output $15.00 → $16.00');
    expect(page.text).toContain('the vendor is dearer now');
    expect(page.text).toContain('New prices are saved as version 3. In-flight calls keep version 2.');
    expect(await audited('m1')).toEqual([
      {
        action: 'added',
        lines: expect.arrayContaining(['context_window 400000', 'groups default', 'prices input 3, output 15']),
        reason: '',
      },
      { action: 'changed', lines: ['context_window 400000 → 500000'], reason: '' },
      {
        action: 'changed',
        lines: ['prices input 3, output 15 → input 3, output 16'],
        reason: 'the vendor is dearer now',
      },
    ]);
  });

  it('show catalog file errors at the fields, and keep what was typed', async () => {
    const refused = await add('m2', {
      'tier-0-input': '3,00',
      'tier-0-output': '',
      contextWindow: 'many',
      'effort-high': 'x',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('id="tier-0-input-error"');
    expect(refused.text).toContain('Input must be a plain decimal of 0 or more with at most 9 decimal places');
    expect(refused.text).toMatch(/id="tier-0-output-error".*Output is missing\./);
    expect(refused.text).toContain('id="contextWindow-error"');
    expect(refused.text).toContain('id="effort-high-error"');
    expect(refused.text).toContain('value="3,00"');
    expect(refused.text).toContain('<title>Error: Add model');
    expect(await exported()).not.toContain('name: m2');
    const taken = await add('m1');
    expect([taken.status, taken.text.includes('A model with this name already exists')]).toEqual([422, true]);
  });

  it('schedule prices in the administrator’s time zone, and withdraw them', async () => {
    await relay.get(DataSource).query(`UPDATE accounts SET time_zone = 'Europe/Berlin' WHERE role = 'admin'`);
    await add('m3');
    await change('m3', { 'tier-0-output': '20', when: 'later', from: '2099-07-01T09:30' });
    expect(await exported()).toContain('valid_from: 2099-07-01T07:30:00.000Z');
    const page = await operator.get('/admin/models/m3');
    expect(page.text).toContain('Withdraw version 2');
    expect(page.text).toMatch(/id="tier-0-output"[^>]* value="15.00"/);
    const withdrawn = await operator.post('/admin/withdraw-prices/m3', { time: '2099-07-01T07:30:00.000Z' });
    expect(withdrawn.location).toBe('/admin/models/m3');
    expect(await exported()).not.toContain('2099');
    expect((await operator.get('/admin/models/m3')).text).toContain('Withdrawn');
    const past = await change('m3', { 'tier-0-output': '20', when: 'later', from: '2020-07-01T09:30' });
    expect([past.status, past.text.includes('Enter a time in the future')]).toEqual([422, true]);
  });

  it('preview prices without saving, and add and remove tiers', async () => {
    await add('m4', { 'tier-1-from': '1000', 'tier-1-input': '4', 'tier-1-output': '5' });
    const shown = await change('m4', { 'tier-0-output': '25', _act: 'recalculate' });
    // 10,000 in and 1,000 out: now in the tier from 1,000 tokens on, at $4.00 and $5.00; after it is gone at $3.00 and $25.00.
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('$0.04<span class="tail">5000</span>');
    expect(shown.text).toContain('$0.05<span class="tail">5000</span>');
    const more = await change('m4', { 'tier-1-from': '1000', 'tier-1-input': '4', _act: 'add-tier' });
    expect(more.text).toContain('name="tier-2-from"');
    const less = await change('m4', { 'tier-1-from': '1000', 'tier-2-from': '7', _act: 'remove-tier-1' });
    expect(less.text).toMatch(/name="tier-1-from"[^>]* value="7"/);
    expect(less.text).not.toContain('name="tier-2-from"');
    expect(await versions('m4')).toBe(1);
  });

  it('preview prices of a new model when only prices are entered', async () => {
    const prices = { groups: ['default', 'saver'], 'tier-0-from': '0', 'tier-0-input': '4', 'tier-0-output': '5' };
    const shown = await operator.submit('/admin/models/new', { ...prices, _act: 'recalculate' });
    // 10,000 in at $4.00 and 1,000 out at $5.00 a million, and times 0.8.
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('$0.04<span class="tail">5000</span>');
    expect(shown.text).toContain('$0.03<span class="tail">6000</span>');
    expect(shown.text).not.toMatch(/id="(?:name|contextWindow)-error"/);
    const refused = await operator.submit('/admin/models/new', { ...prices, 'tier-0-input': 'x', _act: 'recalculate' });
    expect(refused.text).toContain('id="tier-0-input-error"');
  });

  it('show both values and overwrite nothing when the model was changed meanwhile', async () => {
    await add('m5');
    const page = await operator.get('/admin/models/m5');
    await change('m5', { 'tier-0-output': '16' });
    const second = await operator.post('/admin/models/m5', {
      ...FORM,
      revision: revisionOf(page),
      'tier-0-output': '17',
    });
    expect(second.status).toBe(409);
    expect(second.text).toContain('Output: now <b>16.00</b>, yours <b>17</b>');
    expect(await versions('m5')).toBe(2);
    const again = await operator.post('/admin/models/m5', {
      ...FORM,
      revision: revisionOf(second),
      'tier-0-output': '17',
    });
    expect([again.status, await versions('m5')]).toEqual([303, 3]);
  });

  it('disable and enable a model, and saving does not enable it', async () => {
    await add('m6');
    await operator.get('/admin/models/m6');
    await operator.post('/admin/switch-model/m6', { to: 'off' });
    expect(await exported()).not.toContain('name: m6');
    await change('m6', { contextWindow: '7' });
    expect((await operator.get('/admin/models?state=off')).text).toContain('/admin/models/m6');
    await operator.post('/admin/switch-model/m6', { to: 'on' });
    expect(await exported()).toContain('name: m6');
    expect((await audited('m6')).map(({ action }) => action)).toEqual(['added', 'disabled', 'changed', 're-enabled']);
  });

  it('compare two price versions', async () => {
    const page = await operator.get('/admin/models/m5?compare=1&with=3');
    expect(page.text).toMatch(/output<\/th><td class="num">\$15\.00<\/td><td class="num">\$17\.00/);
    expect((await operator.get('/admin/models/m5?compare=1&with=9')).status).toBe(404);
    expect((await operator.get('/admin/models/nothing')).status).toBe(404);
  });
});
