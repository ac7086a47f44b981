import type { Browser, Page } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { mouse } from '../support/page-input.js';
import { codeIn, Mailbox } from '../support/mailbox.js';
import { jsonAnswer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { removeDataDir } from '../support/temporary-data-dir.js';

const OPERATORS_PASSWORD = 'copper lantern meadow';
const USERS_PASSWORD = 'violet kettle umbrella';
const USER = 'ann@example.com';
type ProtocolEndpoint = (typeof PROTOCOLS)[number];
const LABELS: Readonly<Record<ProtocolEndpoint, RegExp>> = {
  'chat-completions': /Chat Completions/,
  messages: /Messages/,
  responses: /Responses/,
};

/** As the operator named it, one for each protocol. */
const modelOf = (protocol: ProtocolEndpoint): string => `large-${protocol}`;
const channelOf = (protocol: ProtocolEndpoint): string => `${protocol}-upstream`;

describe('an administrator’s journey from an empty database to the margin of a call', () => {
  let mailbox: Mailbox;
  let upstream: ScriptedUpstream;
  let service: Service;
  let browser: Browser;
  let operator: Window;
  let user: Window;

  beforeAll(async () => {
    [mailbox, upstream, browser] = await Promise.all([Mailbox.open(), ScriptedUpstream.start(), startBrowser()]);
    service = await Service.start(undefined, { SMTP_URL: mailbox.url });
    operator = await Window.open(browser, service.address);
    user = await Window.open(browser, service.address);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await Promise.all([upstream.close(), mailbox.close()]);
    removeDataDir(service.dataDir);
  });

  const heading = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
  const main = (page: Page): Promise<string> => page.getByRole('main').innerText();

  it('signs in with the generated password, and must change it', async () => {
    const { page } = operator;
    await page.goto('/admin');
    await mouse.fill(page, 'Email', 'admin@switchboard.internal');
    await mouse.fill(page, 'Password', /Password\s+(\S+)\s+\(shown once\)/.exec(service.output)![1]!);
    await mouse.press(page, 'button', 'Sign in');
    expect(await heading(page)).toBe('Choose your own password');
    await page.goto('/admin/settings');
    expect(await heading(page)).toBe('Choose your own password');
    await mouse.fill(page, 'New password', OPERATORS_PASSWORD);
    await mouse.press(page, 'button', 'Set password');
    await page.goto('/admin');
    expect(await heading(page)).toBe('Overview');
  });

  it('goes from the first page to a call with a price in at most 8 clicks', async () => {
    const { page } = operator;
    let clicks = 0;
    const press = async (role: 'link' | 'button', name: string): Promise<void> => {
      clicks += 1;
      await mouse.press(page, role, name);
    };
    const data = ['gpt-5.5', 'gpt-5.4-mini', 'house-model'].map((id) => ({ id, object: 'model' }));
    upstream.scriptNext(jsonAnswer(200, { object: 'list', data }), jsonAnswer(200, { object: 'list', data }));
    await page.goto('/');
    await press('link', 'Set up this service');
    await press('link', 'Add models');
    await expectFine(operator, 'admin-add-models');
    await mouse.fill(page, 'API key', 'sk-upstream-secret-0123456789');
    await mouse.fill(page, 'Base URL', upstream.url);
    await press('button', 'Continue');
    await page.getByText('1 model without a list price').click();
    await expectFine(operator, 'admin-add-models-choose');
    clicks += 1;
    await page.getByRole('checkbox', { name: /^gpt-5\.5/ }).check();
    await press('button', 'Add models');
    expect(await main(page)).toContain('gpt-5.5 added');
    await press('link', 'Try in the playground');
    await mouse.fill(page, 'Message', 'Say hello');
    clicks += 1;
    await page.getByRole('button', { name: 'Send' }).click();
    // 9 tokens in at $5 and 2 out at $30 a million.
    await page.getByText('$0.000105').first().waitFor();
    expect(clicks).toBeLessThanOrEqual(8);
    const first = /First API key\s+(\S+)/.exec(service.output)![1]!;
    const response = await fetch(`${service.address}${PATHS['chat-completions']}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${first}`, 'content-type': 'application/json' },
      body: JSON.stringify(aRequest('chat-completions', { model: 'gpt-5.5' })),
    });
    expect(response.status).toBe(200);
    await eventually(async () => {
      await page.goto('/usage-logs/common');
      expect((await main(page)).split('$0.000105')).toHaveLength(3);
    });
    expect(await page.content()).not.toContain('sk-upstream-secret');
    await page.goto('/admin');
    expect(await main(page)).toContain('3 of 5 done');
    await expectFine(operator, 'admin-overview-setup');
    await mouse.press(page, 'link', 'Models & prices');
    await expectFine(operator, 'admin-models-added');
    upstream.requests.length = 0;
    await page.goto('/admin');
  }, 240_000);

  it('creates a group with multiplier 0.8', async () => {
    const { page } = operator;
    await mouse.press(page, 'link', 'Groups');
    await mouse.press(page, 'link', /Add group/);
    await mouse.fill(page, 'Name', 'saver');
    await mouse.fill(page, 'Multiplier', '0.8');
    await mouse.press(page, 'button', 'Add group');
    expect(await main(page)).toContain('saver');
  });

  it.each(PROTOCOLS)('adds a model with prices for %s', async (protocol) => {
    const { page } = operator;
    await mouse.press(page, 'link', 'Models & prices');
    await mouse.press(page, 'link', 'Add manually');
    await mouse.fill(page, 'Name', modelOf(protocol));
    await page.getByLabel('Input', { exact: true }).first().fill('1');
    await page.getByLabel('Output', { exact: true }).first().fill('10');
    await page.getByLabel('Context window').fill('200,000');
    await page.getByLabel('Output limit').fill('64,000');
    await page.getByRole('checkbox', { name: /saver/ }).check();
    await mouse.press(page, 'button', 'Add model');
    expect(await heading(page)).toContain(modelOf(protocol));
  });

  it.each(PROTOCOLS)('checks and adds a %s channel', async (protocol) => {
    const { page } = operator;
    await mouse.press(page, 'link', 'Channels');
    await mouse.press(page, 'link', 'Add channel');
    await mouse.fill(page, 'Name', channelOf(protocol));
    await page.getByLabel('Protocol', { exact: true }).selectOption({ value: protocol });
    await mouse.fill(page, 'Base URL', upstream.url);
    await mouse.fill(page, 'Credential 1', 'sk-upstream-secret-0123456789');
    await mouse.fill(page, 'Public name 1', modelOf(protocol));
    await mouse.fill(page, 'Upstream name 1', 'vendor-large');
    await page.getByRole('checkbox', { name: /saver/ }).check();
    await mouse.press(page, 'button', 'Run check');
    expect(await main(page)).toMatch(/responded in/);
    expect(upstream.requests).toHaveLength(PROTOCOLS.indexOf(protocol) + 1);
    await page.locator('summary', { hasText: modelOf(protocol) }).click();
    await mouse.fill(page, /Share/, '0.5');
    await mouse.press(page, 'button', 'Add channel');
    expect(await main(page)).toContain('Channel added');
  });

  it('creates redemption codes', async () => {
    const { page } = operator;
    await mouse.press(page, 'link', 'Redemption codes');
    await mouse.press(page, 'link', 'Create codes');
    await mouse.fill(page, 'Amount', '25');
    await mouse.fill(page, 'Number of codes', '2');
    await mouse.press(page, 'button', 'Create codes');
    expect(await heading(page)).toBe('2 codes created');
  });

  it('finds the calls of a new user with cost and margin', async () => {
    const code = /\b[0-9A-Z]{4}(?:-[0-9A-Z]{4})+\b/.exec(await main(operator.page))![0];
    const { page } = user;
    await page.goto('/register');
    await mouse.fill(page, 'Name', 'Ann');
    await mouse.fill(page, 'Email', USER);
    await mouse.fill(page, 'Password', USERS_PASSWORD);
    await mouse.press(page, 'button', 'Create account');
    await mouse.fill(page, 'Code from the email', codeIn(await mailbox.latestTo(USER)));
    await mouse.press(page, 'button', 'Confirm address');
    await page.goto('/wallet');
    await mouse.fill(page, /Redemption code/, code);
    await mouse.press(page, 'button', /Redeem/);
    expect(await main(page)).toContain('$25.00');
    await mouse.press(page, 'link', 'API keys');
    await mouse.press(page, 'link', 'Create key');
    await mouse.fill(page, 'Name', 'laptop');
    await page.getByLabel('Group', { exact: true }).selectOption({ value: 'saver' });
    await mouse.press(page, 'button', 'Create key');
    const secret = /sk-\w{48}/.exec(await main(page))![0];
    for (const protocol of PROTOCOLS) {
      const response = await fetch(`${service.address}${PATHS[protocol]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(aRequest(protocol, { model: modelOf(protocol) })),
      });
      expect({ protocol, status: response.status }).toEqual({ protocol, status: 200 });
      await response.arrayBuffer();
    }
    for (const protocol of PROTOCOLS) await expectFound(protocol);
  }, 60_000);

  /** 9 tokens in at $1 and 2 out at $10 a million, × 0.8: $0.0000232; the upstream takes half of the list price. */
  async function expectFound(protocol: ProtocolEndpoint): Promise<void> {
    const { page } = operator;
    await eventually(async () => {
      await page.goto(`/admin/calls?model=${modelOf(protocol)}`);
      expect(await main(page)).toContain(channelOf(protocol));
    });
    await page.locator('a.toggle').first().click();
    await mouse.press(page, 'link', /Open/);
    const call = await main(page);
    for (const fact of [USER, channelOf(protocol), 'status 200', '$0.0000232', '$0.0000145'])
      expect(call).toContain(fact);
    expect(call).toMatch(LABELS[protocol]);
    expect(call).toMatch(/margin \$0\.0000087, 38%/);
  }

  it('shows no upstream secrets, and causes no browser errors', async () => {
    expect([...operator.complaints, ...user.complaints]).toEqual([]);
    await operator.page.goto('/admin/audit');
    const audit = await main(operator.page);
    for (const name of ['saver', ...PROTOCOLS.map(modelOf), ...PROTOCOLS.map(channelOf)]) expect(audit).toContain(name);
    expect(await operator.page.content()).not.toContain('sk-upstream-secret');
  });
});
