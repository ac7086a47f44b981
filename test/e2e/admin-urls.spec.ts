import { ChannelChanges } from '../../src/catalog/channels/index.js';
import { AccountDeletion, Onboarding } from '../../src/keys/onboarding/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { operatorVisit, type OperatorVisit } from '../support/operator-visit.js';
import { RelayApp } from '../support/relay-app.js';

/** What no page links to, but whoever writes an address by hand can ask for. The database takes no text with a NUL. */
const ODD = ['nothing', '%00', '-1', '99999999999999999999', '%25', '%F0%9F%92%A9', 'a'.repeat(5000)];

const listed = (text: string): readonly string[] => text.trim().split(/\s+/);

const PARTS =
  listed(`after batch before by channel compare effort from group key kind ledger model name object open output p
  prompt protocol q range result role s size state stream text to upstream user who with`);
const LISTS =
  listed(`/admin /admin/audit /admin/audit.csv /admin/calls /admin/calls.csv /admin/channels /admin/channels/new
  /admin/codes /admin/groups /admin/models /admin/models/new /admin/routing /admin/settings /admin/users`);
const THINGS = listed(`calls/:id channels/:id channels/:id/delete groups/:id models/:id users/:id users/:id/balance
  users/:id/delete users/:own/keys/:id/delete`);
const ACTS =
  listed(`channels/:id channels/:id/off channels/:id/on channels/:id/delete groups/:id groups/:id/switch models/:id
  switch-model/:id withdraw-prices/:id settings/limits/:id users/:id/balance users/:id/delete users/:id/enable
  users/:id/suspend users/:id/role users/:id/settings users/:id/sessions/end users/:own/sessions/:id/end
  users/:own/keys/:id/disable users/:own/keys/:id/enable users/:own/keys/:id/delete`);

describe('URLs of the admin console', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;
  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = await operatorVisit(relay);
  });
  afterAll(() => relay.close());

  const each = (paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => ODD.map((id) => `/admin/${path.replace(':own', operator.accountId).replace(':id', id)}`));

  it('render a page for any query string', async () => {
    for (const list of LISTS)
      for (const value of ODD)
        for (const query of [
          PARTS.map((name) => `${name}=${value.slice(0, 60)}`).join('&'),
          PARTS.map((name) => `${name}=${value.slice(0, 30)}&${name}=a`).join('&'),
        ]) {
          const { status } = await operator.browser.get(`${list}?${query}`);
          expect({ list, value, fails: status >= 500 }).toEqual({ list, value, fails: false });
        }
  });

  it('return 404 for unknown ids, with GET and POST', async () => {
    for (const path of each(THINGS)) {
      const { status } = await operator.browser.get(path);
      expect({ path, status }).toEqual({ path, status: 404 });
    }
    await operator.browser.get('/admin');
    for (const path of each(ACTS)) {
      const { status } = await operator.browser.post(path);
      expect({ path, status }).toEqual({ path, status: 404 });
    }
    expect((await operator.browser.post('/admin/codes/nothing/void')).status).toBe(303);
  });

  it('reject changes to a deleted user, and move no money', async () => {
    const { accountId } = await relay.caller();
    await relay.get(AccountDeletion).run(accountId);
    const there = `/admin/users/${accountId}`;
    expect((await operator.browser.get(there)).text).toContain('This user was deleted');
    for (const path of [`${there}/balance`, `${there}/delete`])
      expect({ path, status: (await operator.browser.get(path)).status }).toEqual({ path, status: 404 });
    const typed = { direction: 'add', amount: '5', reason: 'Late', reviewed: parseUsd('5').toString() };
    expect((await operator.browser.post(`${there}/balance`, typed)).status).toBe(404);
    expect((await relay.get(WalletService).balanceOf(accountId)).balance).toBe(0n);
  });

  it('find the user of a dry run ignoring case', async () => {
    const { email } = await relay.caller();
    const query = new URLSearchParams({ user: ` ${email.toUpperCase()} `, protocol: 'messages', model: 'm' });
    const { status, text } = await operator.browser.get(`/admin/routing?${query}`);
    expect(status).toBe(200);
    expect(text).toContain(`A call to m by ${email}`);
  });

  describe('in links of other pages', () => {
    const linkIn = (page: string, words: string): URLSearchParams => {
      const [, href = ''] = new RegExp(`href="([^"]+)">${words}</a>`).exec(page) ?? [];
      return new URL(href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='), relay.url).searchParams;
    };

    it('encode an email address with a plus', async () => {
      const email = 'ann+test@example.com';
      const { id } = await relay.get(Onboarding).createAccount({ email, verified: true });
      const { text } = await operator.browser.get(`/admin/users/${id}`);
      expect(linkIn(text, 'Routing dry run').get('user')).toBe(email);
    });

    it('encode channel and model names', async () => {
      const [channel, model] = ['A & B+C?', 'vendor/a+b&c'];
      await relay.applyCatalog(`
models: [{ name: ${JSON.stringify(model)}, context_window: 1000, max_output_tokens: 100, prices: free }]
channels:
  - { name: ${JSON.stringify(channel)}, protocol: messages, base_url: ${relay.upstream.url}, auth: none, models: { ${JSON.stringify(model)}: m } }
`);
      const stored = (await relay.get(ChannelChanges).all()).find(({ name }) => name === channel);
      const ofChannel = await operator.browser.get(`/admin/channels/${stored?.id}`);
      expect(linkIn(ofChannel.text, 'Show calls').get('channel')).toBe(channel);
      const ofModel = await operator.browser.get('/admin/models/vendor/a%2Bb%26c');
      expect(linkIn(ofModel.text, 'Show calls').get('model')).toBe(model);
    });
  });

  it('show a channel’s share of its tier', async () => {
    const channels = await relay.get(ChannelChanges).all();
    const ofTier = channels.filter(({ tier, enabled }) => tier === channels[0]!.tier && enabled);
    const share = (100 * channels[0]!.weight) / ofTier.reduce((sum, { weight }) => sum + weight, 0);
    const { text } = await operator.browser.get(`/admin/channels/${channels[0]!.id}`);
    expect(text).toContain(`${share.toFixed(0)}% of tier ${channels[0]!.tier}`);
  });
});
