import { DataSource } from 'typeorm';
import { nanos as nanosOf } from '../../src/platform/shared/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { type Bill, IMAGE_PRICES, PRICES, SEARCH_FEE, vendorScript } from '../support/billing-vendor.js';
import { PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { type MoneyCase, moneyCases, moneyRequest } from '../support/money-cases.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import type { Script } from '../support/scripted-upstream.js';
import { tokensIn } from '../support/prose.js';
import { REPORTED, vendorName } from '../support/vendor-reports.js';
import { SeededRandom } from '../support/seeded-random.js';

/** By hand: `MONEY_CASES=50000 npm run test:long -- exact-money`. */
const CASES = Number(process.env['MONEY_CASES'] ?? 5000);
const SEED = Number(process.env['MONEY_SEED'] ?? 20_261_123);
const AT_A_TIME = 16;
/** The tier and the region that an upstream may choose where the client names none. */
const DEAREST_SERVICE = 2 * 1.1;
/** What nobody reports is counted so exactly. */
const COUNTED_WITHIN = 0.05;

const usd = (nanos: number): string => (nanos / 1000).toString();
const modelLine = (name: string, upstream: string): string => {
  const { input, output, cacheWrite12h } = PRICES[name]!;
  const multipliers = 'speeds: { fast: 6 }, geos: { us: 1.1 }, service_tiers: { priority: 2, flex: 0.5 },';
  return `  - { name: ${name}-${upstream}, context_window: 200000, max_output_tokens: 8192, ${multipliers}
      tool_fees: { web_search: ${SEARCH_FEE / 1e9} }, tool_max_uses: { web_search: 3, image_generation: 1 },
      image_generation: { text_input: ${usd(IMAGE_PRICES.input)}, image_output: ${usd(IMAGE_PRICES.output)} },
      prices: [{ input: ${usd(input)}, output: ${usd(output)}, cache_write_12h: ${usd(cacheWrite12h)} }] }`;
};
const NAMES = ['base', 'spare', 'advisor', 'foreign'] as const;
const catalog = (url: string): string => `
models:
${PROTOCOLS.flatMap((upstream) => NAMES.map((name) => modelLine(name, upstream))).join('\n')}
channels:
${PROTOCOLS.map(
  (upstream) => `
  - { name: vendor-${upstream}, protocol: ${upstream}, base_url: "${url}", credentials: [x],
      flags: { hostedWebSearch: ${upstream === 'messages' ? 'web_search_20250305' : String(upstream === 'responses')} },
      models: { ${NAMES.map((name) => `${name}-${upstream}: ${vendorName(name)}`).join(', ')} } }`,
).join('')}
`;

/** What became of one case. */
interface Outcome {
  readonly money: MoneyCase;
  readonly credit: number;
  readonly status: number;
  readonly error: string;
  readonly bills: readonly Bill[];
  /** Undefined: none was written within the time. */
  readonly row: StoredCall | undefined;
}

/** A case while it runs. */
interface RunningCase {
  readonly money: MoneyCase;
  readonly bills: Promise<Bill>[];
  /** Tokens after which nothing more will come. */
  expected: number;
  /** Has the client leave. */
  readonly client: AbortController;
}

/**
 * What a vendor bills by its own reading is charged, to the nano-dollar; nobody pays more, and no call is refused that the
 * wallet can pay at most.
 */
describe('the books of the relay and of a vendor that bills what it does', () => {
  const running = new Map<number, RunningCase>();
  /** Calls of each account so far. */
  const rows = new Map<string, number>();
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalog(relay.upstream.url));
    relay.upstream.script((request) => {
      const id = Number(/case-(\d+)/.exec(request.body.toString())?.[1]);
      const own = running.get(id)!;
      const { money, bills, client } = own;
      if (money.ending === 'left early') client.abort();
      const onServed = (tokens: number): void => void (own.expected = tokens);
      let script: Script = [];
      bills.push(
        new Promise((resolve) => (script = vendorScript(money.upstream, money, { onServed, onBill: resolve }))),
      );
      return script;
    });
  });
  afterAll(() => relay.close());

  it(
    `agree over ${CASES} calls of seed ${SEED}`,
    async () => {
      const waiting = moneyCases(CASES, new SeededRandom(SEED)).toReversed();
      const findings: string[] = [];
      let billed = 0;
      const work = async (): Promise<void> => {
        const callers = new Map<string, TestCaller>();
        for (let money = waiting.pop(); money !== undefined; money = waiting.pop()) {
          const { upstream } = money;
          const caller = callers.get(upstream) ?? (await callerFor(upstream));
          callers.set(upstream, caller);
          const outcome = await play(money, caller);
          // Whose call is not over takes no part any more.
          if (outcome.row === undefined) callers.delete(upstream);
          if (outcome.bills.length > 0) billed += 1;
          findings.push(...judge(outcome));
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      expect(findings.slice(0, 30)).toEqual([]);
      expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
      // A run in which nothing happened would agree as well.
      expect(billed).toBeGreaterThan(CASES / 4);
    },
    60_000 + CASES * 60,
  );

  const callerFor = (upstream: string): Promise<TestCaller> =>
    relay.caller({ credit: '1', models: ['base', 'spare', 'advisor'].map((name) => `${name}-${upstream}`) });

  async function play(money: MoneyCase, caller: TestCaller): Promise<Outcome> {
    const own: RunningCase = { money, bills: [], expected: Infinity, client: new AbortController() };
    running.set(money.id, own);
    const body = JSON.stringify(moneyRequest(money));
    const credit = creditFor(money, body);
    await setBalance(caller, credit);
    const { status, error } = await ask(own, caller, body);
    const row = await settledRow(caller, money);
    const bills = await Promise.all(own.bills);
    running.delete(money.id);
    relay.upstream.requests.length = 0;
    return { money, credit, status, error, bills, row };
  }

  async function ask(own: RunningCase, { key }: TestCaller, body: string) {
    const { money, client } = own;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...money.member.headers };
    const signal = AbortSignal.any([client.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await fetch(`${relay.url}${PATHS[money.client]}`, { method: 'POST', headers, body, signal });
      const text = await readBody(response, own);
      return { status: response.status, error: response.status === 200 ? '' : text };
    } catch (error) {
      return { status: 0, error: String(error) };
    }
  }

  /** All of a response, or as much as is there of it when its client leaves. */
  async function readBody(response: Response, own: RunningCase): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (own.money.ending === 'left' && tokensIn(text) >= own.expected) own.client.abort();
    }
    return text;
  }

  async function setBalance({ accountId }: TestCaller, credit: number): Promise<void> {
    const wallets = relay.get(WalletService);
    const { balance } = await wallets.balanceOf(accountId);
    const missing = BigInt(credit) - balance;
    if (missing !== 0n) await wallets.credit(accountId, nanosOf(missing), 'test');
  }

  function settledRow({ accountId }: TestCaller, { id }: MoneyCase): Promise<StoredCall | undefined> {
    const known = rows.get(accountId) ?? 0;
    rows.set(accountId, known + 1);
    return eventually(async () => {
      const [row] = await relay
        .get(DataSource)
        .query<StoredCall[]>('SELECT * FROM calls WHERE account_id = $1 ORDER BY created_at, id OFFSET $2', [
          accountId,
          known,
        ]);
      if (row === undefined) throw new Error(`No row of case ${id} yet.`);
      return row;
    }, TIMEOUT_MS).catch(() => undefined);
  }
});

/** Nanos: what the call can come to at most, in the dearest service where the client leaves that open. */
function creditFor({ budget, limit = 8192, member, share }: MoneyCase, body: string): number {
  const { input, output } = PRICES['base']!;
  const { multiplier = 1, extraNanos = 0 } = member;
  if (budget === 'ample') return 10e9;
  const enough = (body.length * input + limit * output + extraNanos) * Math.max(multiplier, DEAREST_SERVICE);
  return Math.ceil(budget === 'enough' ? enough : enough * share);
}

const tokensOf = (bills: readonly Bill[]): string =>
  bills.map(({ prompt, output }) => `${prompt} and ${output}`).join();

const bookOf = (row: StoredCall): string =>
  `${row['cost']} for ${row['prompt_tokens']} and ${row['completion_tokens']} tokens as ${row['billing_basis']}`;

/** Everything that is wrong with one case, in words. */
function judge({ money, credit, status, error, bills, row }: Outcome): string[] {
  const { id, client, upstream, stream, member, ending, budget } = money;
  const name = `case ${id}: ${member.name}, ${client} over ${upstream}, ${stream ? 'streamed' : 'whole'}, ${ending}, ${budget}`;
  if (row === undefined) return [`${name}: no row (${status} ${error})`];
  const charged = Number(row['cost']);
  const billed = bills.reduce((sum, { nanos }) => sum + nanos, 0);
  const findings: string[] = [];
  const find = (what: string): void => void findings.push(`${name}: ${what} (${status} ${error.slice(0, 200)})`);
  if (bills.some(({ isForbidden }) => isForbidden)) find('reached the vendor');
  if (charged > credit) find(`charged ${charged} of a credit of ${credit}`);
  if (row['uncollected'] !== '0') find(`uncollected ${String(row['uncollected'])}`);
  const within = REPORTED.includes(ending) ? 0 : billed * COUNTED_WITHIN;
  if (billed > charged + within) find(`leak: billed ${billed} for ${tokensOf(bills)}, charged ${bookOf(row)}`);
  if (charged > billed + within) find(`overcharge: billed ${billed} for ${tokensOf(bills)}, charged ${bookOf(row)}`);
  const isHonest = member.isForbidden === undefined;
  if (isHonest && budget !== 'short' && error.includes('insufficient quota')) find('refused while affordable');
  // A translation may lack the words for a member.
  if (budget === 'ample' && isHonest && client === upstream && status >= 400 && ending === 'reported')
    find('refused although it is paid for');
  return findings;
}
