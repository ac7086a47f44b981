import { DataSource } from 'typeorm';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const SAID = 'Calls before 1 Mar 2026 have been deleted.';
const [BEFORE, AFTER] = ['range=custom&from=2026-02-28&to=2026-03-05', 'range=custom&from=2026-03-01&to=2026-03-05'];

describe('calls of months that were dropped', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let owner: PageVisitor;
  let operator: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
    ann = await relay.caller();
    [owner, operator] = [await signedIn(relay, ann.accountId), (await operatorVisit(relay)).browser];
  });
  afterAll(() => relay.close());

  it('are said to be missing where they are asked for, to users and operators, and nowhere else', async () => {
    const pages = [
      [owner, '/usage-logs/common'],
      [operator, '/admin/calls'],
    ] as const;
    for (const [browser, path] of pages)
      expect((await browser.get(`${path}?${BEFORE}`)).text).not.toContain('have been deleted');
    await relay.get(DataSource).query(
      `INSERT INTO dropped_calls (key_id, month, account_id, entry_id, calls, cost, last_at)
       VALUES ($1, '2026-01-01', $2, '', 1, 0, '2026-01-10'), ($1, '2026-02-01', $2, '', 1, 0, '2026-02-10')`,
      [ann.keyId, ann.accountId],
    );
    for (const [browser, path] of pages) {
      const { status, text } = await browser.get(`${path}?${BEFORE}`);
      expect(status).toBe(200);
      expect(text).toContain(SAID);
      expect(text).toContain('They are not in this list or its CSV export.');
      expect((await browser.get(`${path}?${AFTER}`)).text).not.toContain('have been deleted');
    }
  });
});
