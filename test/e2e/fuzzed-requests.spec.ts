import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { expectNoFailure, expectWorded, type FuzzResponse } from '../support/fuzz/expected-responses.js';
import { type FormTarget, type FuzzedRequest, fuzzedRequests } from '../support/fuzz/fuzzed-requests.js';
import { pairsCatalog } from '../support/pairs.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';
import { sendRaw } from '../support/wire.js';

/** How many requests; 30,000 take some minutes. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 3000);
const SEED = process.env['FUZZ_SEED'] === undefined ? undefined : Number(process.env['FUZZ_SEED']);

/** Every form of a page but the one that would end the visit, and what it asks for. */
const FORMS: readonly FormTarget[] = [
  { path: '/register', fields: ['name', 'email', 'password', 'invitation'] },
  { path: '/sign-in', fields: ['email', 'password'] },
  { path: '/forgot', fields: ['email'] },
  { path: '/reset', fields: ['code', 'email', 'password', 'token'] },
  { path: '/reset/renew', fields: ['token', 'email'] },
  { path: '/verify', fields: ['code'] },
  { path: '/verify/resend', fields: ['x'] },
  { path: '/verify/address', fields: ['email'] },
  { path: '/verify/link', fields: ['token', 'code'] },
  { path: '/verify/link/renew', fields: ['token'] },
  { path: '/theme', fields: ['theme', 'back'] },
  { path: '/flash/dismiss', fields: ['back'] },
  { path: '/account/profile', fields: ['name', 'timeZone'] },
  { path: '/account/password', fields: ['currentPassword', 'password'] },
  { path: '/account/email', fields: ['email', 'currentPassword'] },
  { path: '/account/email/confirm', fields: ['code'] },
  { path: '/account/email/resend', fields: ['x'] },
  { path: '/account/sessions/:id/end', fields: ['x'] },
  { path: '/wallet', fields: ['code'] },
  { path: '/keys/new', fields: ['name', 'group', 'quota', 'daily', 'weekly', 'monthly', 'expires', 'models'] },
  { path: '/keys/:id/edit', fields: ['name', 'group', 'quota', 'daily', 'weekly', 'monthly', 'expires', 'models'] },
  { path: '/keys/:id/raise', fields: ['amount', 'quota'] },
  { path: '/keys/:id/leaked', fields: ['x'] },
  { path: '/keys/:id/replace', fields: ['x'] },
  { path: '/keys/:id/delete', fields: ['name', 'confirm'] },
  { path: '/keys/:id/disable', fields: ['x'] },
  { path: '/keys/:id/enable', fields: ['x'] },
  { path: '/usage-logs/common/:id/forget', fields: ['x'] },
];

const headersOf = ({ cookies }: PageVisitor): string[] => [
  'accept',
  'text/html',
  'cookie',
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
];

describe('R10: fuzzed requests', () => {
  let relay: RelayApp;
  let requests: fc.Arbitrary<FuzzedRequest>;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(pairsCatalog(relay.upstream.url));
    const caller = await relay.caller({ credit: '1000000' });
    // Another account's: its forms switch keys off.
    const owner = await relay.caller();
    const browsers = [await signedIn(relay, owner.accountId), new PageVisitor(relay.url)];
    await browsers[0]!.get('/keys/new');
    await browsers[1]!.get('/register');
    requests = fuzzedRequests({
      programHeaders: ['authorization', `Bearer ${caller.key}`],
      browsers: browsers.map((browser) => ({ headers: headersOf(browser), csrf: browser.csrf })),
      forms: FORMS.map(({ path, fields }) => ({ path: path.replace(':id', owner.keyId), fields })),
    });
  });
  afterAll(() => relay.close());

  async function hear(request: FuzzedRequest): Promise<FuzzResponse> {
    const begun = performance.now();
    const response = await sendRaw(relay.url, request);
    return { response, text: await response.text(), ms: performance.now() - begun };
  }

  it(
    'are answered, or refused in the client’s protocol with the name of the field, and never cause an internal error',
    async () => {
      const statuses = new Map<number, number>();
      let slowestMs = 0;
      let sent = 0;
      await fc.assert(
        fc
          .asyncProperty(requests, async (request) => {
            const received = await hear(request);
            slowestMs = Math.max(slowestMs, received.ms);
            statuses.set(received.response.status, (statuses.get(received.response.status) ?? 0) + 1);
            expectNoFailure(received);
            expectWorded(request, received);
          })
          .beforeEach(async () => {
            if (++sent % 100 !== 0) return;
            // Or people would be told to come again later, instead of what is wrong.
            await relay.get(DataSource).query('DELETE FROM throttles');
            relay.upstream.reset();
          }),
        { numRuns: RUNS, ...(SEED !== undefined && { seed: SEED }) },
      );
      if (process.env['FUZZ_RUNS'] !== undefined)
        process.stderr.write(
          `${RUNS} requests, slowest ${slowestMs.toFixed(0)} ms, by status: ${JSON.stringify([...statuses])}
`,
        );
      // Some are good, and some are not.
      expect(statuses.get(200)).toBeGreaterThan(0);
      expect(statuses.get(400)).toBeGreaterThan(0);
    },
    300_000 + RUNS * 100,
  );
});
