import { DataSource } from 'typeorm';
import { channelFields, useChannelPages } from '../support/channel-pages.js';
import type { PageResponse } from '../support/page-visitor.js';

const NAME = 'charging';
const TIERS = [
  { input: 1, output: 2, request_fee: 0.5 },
  { from_prompt_tokens: 200000, input: 2, output: 4 },
];

describe('upstream costs on channel pages', () => {
  const world = useChannelPages();

  beforeAll(async () => {
    await world.relay.applyCatalog(`channels:
  - name: ${NAME}
    protocol: chat-completions
    base_url: ${world.relay.upstream.url}
    auth: none
    models: [m, free, unserved, only-chat]
    costs:
      m: 0.75
      free: ${JSON.stringify(TIERS)}
      unserved: { input: 1.25, cache_read: 0.125, output: 10 }
`);
  });

  const costs = async (): Promise<unknown> =>
    JSON.parse(JSON.stringify((await world.named(NAME)).entry['costs'] ?? {}), (_, value: unknown) =>
      typeof value === 'object' && value !== null && 'source' in value ? Number(value.source) : value,
    );
  const open = async (): Promise<PageResponse> => world.operator.get(`/admin/channels/${(await world.named(NAME)).id}`);
  const row = (page: PageResponse, model: string): number =>
    [channelFields(page)['costModel'] ?? []].flat().indexOf(model);
  /** Sends the page's form with one field of a model's costs as it is said here. */
  const say = async (model: string, fields: Readonly<Record<string, string>>, more = {}): Promise<PageResponse> => {
    const page = await open();
    const typed = Object.entries(fields).map(([name, text]) => {
      const column = [channelFields(page)[name] ?? []].flat();
      return [name, column.with(row(page, model), text)];
    });
    return world.send(NAME, { ...Object.fromEntries(typed), ...more });
  };
  const lines = async (): Promise<string[]> => {
    const entries = await world.relay
      .get(DataSource)
      .query<{ lines: string[] }[]>('SELECT lines FROM audit_entries WHERE object_id = $1 ORDER BY id', [
        (await world.named(NAME)).id,
      ]);
    return entries.at(-1)?.lines ?? [];
  };

  it('are shown as stored, and kept when something else is saved', async () => {
    const { text } = await open();
    const before = await costs();
    expect(text).toContain('0.75 × the price');
    expect(text).toContain('Input $1.25, Output $10, Cache read $0.125');
    expect(text).toContain('from 200000 prompt tokens input 2, output 4');
    expect(text).toMatch(/only-chat<\/span>: Unknown/);
    expect((await world.send(NAME, { weight: '77' })).status).toBe(303);
    expect(await world.named(NAME)).toMatchObject({ weight: 77 });
    expect(await costs()).toEqual(before);
    expect(before).toEqual({
      m: 0.75,
      free: TIERS.map((tier) => ({ from_prompt_tokens: 0, ...tier })),
      unserved: { input: 1.25, cache_read: 0.125, output: 10 },
    });
  });

  it('can be set to prices, a share or unknown, with the old values in the audit log', async () => {
    await say('m', { costShare: '', costInput: '$3.', costOutput: '1,500', costWrite5m: '3.75' });
    expect(await costs()).toMatchObject({ m: { input: 3, output: 1500, cache_write_5m: 3.75 } });
    expect(await lines()).toEqual(['cost of m 0.75 × the price → input 3, cache_write_5m 3.75, output 1500']);
    await say('only-chat', { costShare: '.5' });
    expect(await costs()).toMatchObject({ 'only-chat': 0.5 });
    await say('unserved', { costInput: '', costOutput: '', costCacheRead: '' });
    expect(await costs()).not.toHaveProperty('unserved');
  });

  it('are kept until removed when the form has no fields for them', async () => {
    expect(row(await open(), 'free')).toBe(-1);
    await world.send(NAME, { costForgotten: 'free' });
    expect(await costs()).not.toHaveProperty('free');
    expect(row(await open(), 'free')).not.toBe(-1);
  });

  it.each([
    [{ costShare: '0.5', costInput: '1' }, 'share', 'Enter either a share or prices for only-chat, not both.'],
    [{ costShare: 'half' }, 'share', 'Enter the share for only-chat as a decimal such as 0.6'],
    [{ costShare: '', costInput: '1' }, 'output', 'Enter the output cost of only-chat, or 0 if it is free.'],
    [{ costShare: '', costInput: '1', costOutput: '-2' }, 'output', 'Output of only-chat must be a plain decimal'],
  ])('are refused beside their field: %j', async (fields, name, message) => {
    const before = await world.exported();
    const refused = await say('only-chat', fields);
    expect(refused.status).toBe(422);
    const [, id = ''] = new RegExp(`id="(cost-\\d+-${name})"[^>]* aria-invalid="true"`).exec(refused.text) ?? [];
    expect(refused.text).toContain(`<a href="#${id}">${message}`);
    const at = row(refused, 'only-chat');
    for (const [field, text] of Object.entries(fields)) expect(channelFields(refused)[field]?.[at]).toBe(text);
    expect(await world.exported()).toBe(before);
  });

  it('do not prevent a check when invalid', async () => {
    const checked = await say('only-chat', { costShare: 'half' }, { _act: 'check' });
    expect(checked.text).toMatch(/responded in [\d,]+ ms/);
    expect(channelFields(checked)['costShare']).toContain('half');
  });

  it('get fields for added models, and are removed with removed ones', async () => {
    const page = await open();
    const named = { public: ['m', 'chat'], upstream: ['', ''], _act: 'again' };
    const again = await world.send(NAME, named);
    expect(channelFields(again)['costModel']).toEqual(['m', 'chat']);
    expect(channelFields(page)['costModel']).toContain('only-chat');
    expect((await world.send(NAME, { public: 'm', upstream: 'm' })).status).toBe(303);
    expect(Object.keys((await costs()) as object)).toEqual(['m']);
  });

  it('are compared when changes conflict', async () => {
    const { id } = await world.named(NAME);
    const opened = channelFields(await open());
    await say('m', { costInput: '4' });
    const conflict = await world.operator.post(`/admin/channels/${id}`, { ...opened, costOutput: '9' });
    expect(conflict.status).toBe(409);
    expect(conflict.text).toMatch(
      /Cost of m: now <b>Input \$4, Output \$1500[^<]*<\/b>, yours <b>Input \$3, Output \$9/,
    );
    expect(await costs()).toMatchObject({ m: { input: 4, output: 1500 } });
  });
});
