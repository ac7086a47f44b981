/** What one account's requests do to an upstream, and what the calls of other accounts see of it. */

import { errorResponse, responseIn, type Script } from '../support/scripted-upstream.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

const PROTOCOL = 'responses';
const GOOD = responseIn(PROTOCOL);
const MODELS = ['failing', 'dead', 'flagged', 'credits', 'beta', 'tokens', 'limited', 'revoked'];
const CATALOG = `
models:
${MODELS.map((name) => `  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }`).join('\n')}
channels:
${MODELS.map((name) => `  - { name: ${name}, protocol: ${PROTOCOL}, base_url: "URL/${name}", credentials: [secret-of-${name}], models: { ${name}: m } }`).join('\n')}
`;

let relay: RelayApp;
let attacker: TestCaller;
let others: readonly TestCaller[];

beforeAll(async () => {
  relay = await RelayApp.start({}, {}, undefined, {});
  await relay.applyCatalog(CATALOG.replaceAll('URL', relay.upstream.url));
  attacker = await relay.caller();
  others = await Promise.all([relay.caller(), relay.caller()]);
});
afterAll(() => relay.close());
afterEach(() => relay.upstream.reset());

async function statusOf(caller: TestCaller, model: string, input: string): Promise<number> {
  const response = await relay.post(PATHS[PROTOCOL], caller.key, aRequest(PROTOCOL, { model, input, store: false }));
  await response.text();
  return response.status;
}

/** The upstream does this to requests with the word "poison"; everything else gets a response. */
const poisonedWith = (script: Script): void =>
  relay.upstream.script(({ body }) => (body.toString().includes('poison') ? script : GOOD));
const poisonedRequests = (): number =>
  relay.upstream.requests.filter(({ body }) => body.toString().includes('poison')).length;

async function statusesOf(caller: TestCaller, model: string, input: string, calls: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < calls; count += 1) statuses.push(await statusOf(caller, model, input));
  return statuses;
}

/** The others' calls, made while the attacker makes poisoned ones. */
async function statusesBeside(
  model: string,
  attacks: number,
  calls: number,
): Promise<Record<'attack' | 'others', number[]>> {
  const [attack, ...rest] = await Promise.all([
    statusesOf(attacker, model, 'poison', attacks),
    ...others.map((other) => statusesOf(other, model, 'Hello', calls)),
  ]);
  return { attack: attack!, others: rest.flat() };
}

describe('N1: requests of one account that make an upstream fail', () => {
  it('75 of them cause none of the 508 calls of others to be refused, and make that account back off', async () => {
    poisonedWith(errorResponse(PROTOCOL, 500));
    expect(await statusesOf(attacker, 'failing', 'poison', 6)).toEqual([502, 502, 502, 502, 502, 503]);
    const statuses = await statusesBeside('failing', 69, 254);
    expect(statuses.others).toHaveLength(508);
    expect(statuses.others.filter((status) => status !== 200)).toEqual([]);
    // Five failures, then one at most for each back-off that ends meanwhile.
    expect(poisonedRequests()).toBeLessThan(15);
  });

  it('lead to a cooldown for all accounts when the relay’s check call fails too', async () => {
    relay.upstream.script(errorResponse(PROTOCOL, 500));
    for (let count = 0; count < 5; count += 1) await statusOf(attacker, 'dead', 'poison');
    await eventually(async () => expect(await statusOf(others[0]!, 'dead', 'Hello')).toBe(503));
  });
});

describe('N5: a request that an upstream refuses for what it is', () => {
  const refusal = (status: number, message: string): Script =>
    errorResponse(PROTOCOL, status, { error: { message, type: 'invalid_request_error' } });

  it.each<[string, string, Script]>([
    ['flagged', 'its content (403)', refusal(403, 'Your input was flagged by the provider.')],
    ['beta', 'a header (403)', refusal(403, 'This organization may not use the requested feature.')],
    ['credits', 'its output limit (402)', refusal(402, 'You requested 64000 tokens, but can only afford 3000.')],
    [
      'tokens',
      'its size (429)',
      refusal(429, 'Request too large for m on tokens per min: Limit 10000, Requested 20000.'),
    ],
  ])('%s: refused for %s, it causes no call of others to be refused', async (model, _, script) => {
    poisonedWith(script);
    const statuses = await statusesBeside(model, 10, 20);
    expect(statuses.others.filter((status) => status !== 200)).toEqual([]);
    expect(await statusOf(attacker, model, 'Hello')).toBe(200);
  });

  it('pauses only the account that was rate-limited, and all accounts once another one is rate-limited too', async () => {
    poisonedWith(errorResponse(PROTOCOL, 429, undefined, { 'retry-after': '60' }));
    expect(await statusOf(attacker, 'limited', 'poison')).toBe(429);
    expect(await statusOf(attacker, 'limited', 'Hello')).toBe(429);
    expect(await statusOf(others[0]!, 'limited', 'Hello')).toBe(200);
    expect(await statusOf(others[0]!, 'limited', 'poison')).toBe(429);
    expect(await statusOf(others[1]!, 'limited', 'Hello')).toBe(429);
  });

  it('is distinguished from a bad credential by a check call', async () => {
    relay.upstream.script(errorResponse(PROTOCOL, 401));
    expect(await statusOf(attacker, 'revoked', 'poison')).toBe(502);
    await eventually(async () => {
      relay.upstream.requests.length = 0;
      await statusOf(others[0]!, 'revoked', 'Hello');
      expect(relay.upstream.requests).toEqual([]);
    });
  });
});
