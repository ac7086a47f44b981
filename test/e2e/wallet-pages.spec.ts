import { usd } from '../../src/platform/format/index.js';
import { nanos, parseUsd } from '../../src/platform/shared/index.js';
import { RedemptionService, WalletService } from '../../src/wallet/index.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const MARKUP = `<img src=x onerror=alert(1)>"'`;

describe('the page of the wallet', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let browser: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  beforeEach(async () => {
    ann = await relay.caller({ credit: '10' });
    browser = await signedIn(relay, ann.accountId);
  });
  afterAll(() => relay.close());

  const code = async (amount: bigint, expiresAt?: Date): Promise<string> =>
    (await relay.get(RedemptionService).create({ amount: nanos(amount), count: 1, expiresAt })).codes[0]!;
  const once = (html: string): string => /name="_once" value="([^"]+)"/.exec(html)![1]!;
  const redeem = async (typed: string) => {
    const { text } = await browser.get('/wallet');
    return browser.post('/wallet', { code: typed, _once: once(text) });
  };
  const call = async (): Promise<void> => {
    await (await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello' })).text();
  };
  const nanosIn = (cell: string): bigint => parseUsd(cell.replaceAll(/<[^>]+>|[+$,\s]/g, '').replace('−', '-'));
  /** What stands in a column of a table, by its label. */
  const column = (html: string, table: string, label: string): bigint[] => {
    const part = html.slice(html.indexOf(`id="${table}"`)).split('</section>')[0]!;
    return [...part.matchAll(new RegExp(`data-label="${label}"[^>]*>(.*?)(?:<small>.*?)?</td>`, 'g'))].map(([, cell]) =>
      nanosIn(cell!),
    );
  };
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, amount) => all + amount, 0n);
  const csv = async (path: string): Promise<Record<string, string>[]> => {
    const { text, headers } = await browser.get(path);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...lines] = text
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    return lines.map((line) => Object.fromEntries(line.map((cell, index) => [head![index]!, cell])));
  };

  it('is signed-in users', async () => {
    const otherUser = new (browser.constructor as typeof PageVisitor)(relay.url);
    for (const path of ['/wallet', '/wallet/top-ups.csv', '/wallet/consumption.csv'])
      expect((await otherUser.get(path)).location).toMatch(/^\/sign-in/);
  });

  it('adds up: balance = top-ups less consumption, to the nano-dollar, on the page and in both CSVs', async () => {
    const wallet = relay.get(WalletService);
    await call();
    await wallet.credit(ann.accountId, nanos(123_456_789n), 'odd');
    await redeem(await code(1_000_000_001n));
    await wallet.credit(ann.accountId, nanos(-7n), 'correction');
    await wallet.recordOwed(ann.accountId, nanos(100n * 1_000_000_000n), 'taken back');
    await wallet.credit(ann.accountId, nanos(100n * 1_000_000_000n), 'paid back');
    await call();
    const { balance } = await wallet.balanceOf(ann.accountId);
    const { text } = await browser.get('/wallet');
    const topUps = column(text, 'top-ups', 'Amount');
    const spent = column(text, 'consumption', 'Amount');
    expect(topUps).toHaveLength(6);
    expect(sum(topUps) + sum(spent)).toBe(balance);
    expect(nanosIn(/Exactly (.*?)<\/p>/.exec(text)![1]!)).toBe(balance);
    expect(/class="figure">(.*?)<\/p>/.exec(text)![1]).toBe(usd(balance));
    expect(column(text, 'consumption', 'Balance after')[0]).toBe(balance);
    const inCsv = await csv('/wallet/top-ups.csv');
    const daysInCsv = await csv('/wallet/consumption.csv');
    const dollars = (rows: Record<string, string>[]): bigint => sum(rows.map((row) => parseUsd(row['amount_usd']!)));
    expect(dollars(inCsv) - dollars(daysInCsv)).toBe(balance);
    expect(inCsv.map((row) => parseUsd(row['amount_usd']!))).toEqual(topUps);
    expect(inCsv[0]).toMatchObject({ kind: 'credit', reason: 'paid back', reference: expect.stringMatching(/^led_/) });
    const day = /class="plain" href="(\/usage-logs\/common[^"]+)"/.exec(text)![1]!;
    const log = await browser.get(day.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='));
    expect(log.text.match(/id="c-req_/g)).toHaveLength(2);
  });

  it('redeems a code, and what it is worth can be spent by the next call', async () => {
    ann = await relay.caller({ credit: '0' });
    browser = await signedIn(relay, ann.accountId);
    expect((await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello' })).status).toBe(429);
    const given = await code(5_000_000_000n);
    const response = await redeem(given.toLowerCase().replaceAll('-', ' '));
    expect([response.status, response.location]).toEqual([303, '/wallet']);
    expect((await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello' })).status).toBe(200);
    const { text } = await browser.get('/wallet');
    expect(text).toContain('$5.00 added');
    expect(text).toContain('Redemption code');
  });

  it('redeems a form once, however often it is sent', async () => {
    const { text } = await browser.get('/wallet');
    const form = { code: await code(5n), _once: once(text) };
    await browser.post('/wallet', form);
    const again = await browser.post('/wallet', form);
    expect([again.status, again.location]).toEqual([303, '/wallet']);
  });

  it('says what is wrong with a code, beside what was typed', async () => {
    const bob = await relay.caller();
    const [used, theirs] = [await code(5n), await code(5n)];
    const expired = await code(5n, new Date(Date.now() + 50));
    await redeem(used);
    await relay.get(RedemptionService).redeem(bob.accountId, theirs);
    for (const [typed, words] of [
      ['', 'Enter your code.'],
      [MARKUP, 'Unknown code'],
      ['0000-0000-0000-0000-0000-0000-0000', 'Unknown code'],
      [used, 'already redeemed for this account on '],
      [theirs, 'already redeemed by another account'],
      [expired, 'This code expired on '],
    ] as const) {
      const { status, text } = await redeem(typed);
      expect(status).toBe(422);
      expect(text).toContain(words);
      expect(text).toContain('<title>Error: Wallet');
      expect(text).toContain('aria-invalid="true"');
      expect(text).not.toContain('<img');
      if (typed === used) expect(text).toContain(`value="${used}"`);
    }
    expect((await relay.wallet(ann)).balance).toBe('10.000000005');
  });

  it('takes no form without the token of its visit, and none without what makes it the only one', async () => {
    const given = await code(5n);
    await browser.get('/wallet');
    const foreign = await browser.post('/wallet', { code: given, _csrf: 'x', _once: 'a'.repeat(22) });
    expect(foreign.status).toBe(403);
    const bare = await browser.post('/wallet', { code: given });
    expect(bare.status).toBe(409);
    expect((await relay.wallet(ann)).balance).toBe('10');
  });

  it('stops an account that tries codes', async () => {
    let last = await redeem('nothing');
    for (let tries = 0; tries < 11; tries += 1) last = await redeem('nothing');
    expect(last.status).toBe(429);
    expect(last.text).toContain('Too many attempts');
    expect((await redeem(await code(5n))).status).toBe(429);
  });

  it('writes markup in reasons as text, and nothing in a CSV that a spreadsheet would run', async () => {
    await relay.get(WalletService).credit(ann.accountId, nanos(1n), MARKUP);
    await relay.get(WalletService).credit(ann.accountId, nanos(1n), '=HYPERLINK("http://x")');
    expect((await browser.get('/wallet')).text).not.toContain('<img');
    const { text } = await browser.get('/wallet/top-ups.csv');
    expect(text).toContain(`"'=HYPERLINK(""http://x"")"`);
  });

  it.each(['x', 'eyJhdCI6IjIwMjYifQ.AAAA'])(
    'shows the newest entries for the cursor %j, and says so',
    async (cursor) => {
      for (const path of [`/wallet?before=${cursor}`, `/wallet?topups=${cursor}`, `/wallet?topups=${cursor}&topups=a`])
        expect((await browser.get(path)).text).toContain('Page no longer available');
    },
  );

  it('shows the balance beside every page, and tells when it is low or owed', async () => {
    expect((await browser.get('/usage-logs/common')).text).toContain('<small>Balance</small><b>$10.00</b>');
    await relay.get(WalletService).credit(ann.accountId, parseUsd('-9.5'), 'x');
    expect((await browser.get('/usage-logs/common')).text).toContain('Only $0.50 is left');
    await relay.get(WalletService).recordOwed(ann.accountId, parseUsd('2'), 'x');
    expect((await browser.get('/usage-logs/common')).text).toContain('Your account owes $1.50');
  });
});
