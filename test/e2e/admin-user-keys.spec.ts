import { DataSource } from 'typeorm';
import { ApiKeyService, OwnKeys } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { onceOf, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

describe('a user’s API keys in the admin console', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;
  let ann: TestCaller;
  let there: string;

  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = await operatorVisit(relay);
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    ann = await relay.caller({ credit: '5' });
    there = `/admin/users/${ann.accountId}`;
  });

  describe('quota changes', () => {
    let id: string;
    let form: string;

    beforeEach(async () => {
      const made = { accountId: ann.accountId, name: 'laptop', quota: parseUsd('10') };
      ({ id } = await relay.get(ApiKeyService).create(made));
      form = `${there}/keys/${id}/quota`;
    });
    const quota = async () => (await relay.get(OwnKeys).get({ accountId: ann.accountId, id })).quota;
    const change = async (direction: string, amount: string): Promise<PageResponse> => {
      const _once = onceOf((await operator.browser.get(form)).text);
      return operator.browser.post(form, { direction, quota: amount, _once });
    };

    it('raise and lower it, with an audit entry', async () => {
      expect((await operator.browser.get(there)).text).toContain(`href="${form}"`);
      expect((await change('add', '2.50')).location).toBe(`${there}#keys`);
      expect(await quota()).toBe(parseUsd('12.5'));
      expect((await change('take', '4')).location).toBe(`${there}#keys`);
      expect(await quota()).toBe(parseUsd('8.5'));
      const recorded = await relay
        .get(DataSource)
        .query('SELECT actor_name, lines, object_owner FROM audit_entries WHERE object_id = $1 ORDER BY id', [id]);
      const by = { actor_name: operator.email, object_owner: ann.accountId };
      expect(recorded).toEqual([
        { ...by, lines: ['quota $10 → $12.5'] },
        { ...by, lines: ['quota $12.5 → $8.5'] },
      ]);
    });

    it('apply once when the form is submitted repeatedly', async () => {
      const _once = onceOf((await operator.browser.get(form)).text);
      for (const _ of [1, 2]) await operator.browser.post(form, { direction: 'add', quota: '1', _once });
      expect(await quota()).toBe(parseUsd('11'));
    });

    it('reject invalid amounts and quotas below the used amount, and keep what was typed', async () => {
      const unreadable = await change('add', 'much');
      expect(unreadable.status).toBe(422);
      expect(unreadable.text).toContain('Enter an amount in dollars, such as 25 or 1,000.50.');
      expect(unreadable.text).toContain('value="much"');
      const below = await change('take', '11');
      expect(below.status).toBe(422);
      expect(below.text).toContain('value="11"');
      expect(below.text).toContain('A quota of $10 cannot be changed by $-11');
      expect(await quota()).toBe(parseUsd('10'));
    });

    it('are rejected for a key without a quota or of another user', async () => {
      const without = `${there}/keys/${ann.keyId}/quota`;
      expect((await operator.browser.get(there)).text).not.toContain(without);
      const { text } = await operator.browser.get(without);
      expect(text).toContain('limited only by the balance');
      const bob = await relay.caller();
      expect((await operator.browser.get(`${there}/keys/${bob.keyId}/quota`)).status).toBe(404);
    });
  });

  it('are paginated', async () => {
    for (let number = 1; number <= 52; number += 1)
      await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: `key ${number}` });
    const idsIn = (text: string): string[] => [...text.matchAll(/keys\/(key_\w+)\/delete"/g)].map(([, id]) => id ?? '');
    const first = await operator.browser.get(there);
    expect(idsIn(first.text)).toHaveLength(50);
    const older = /href="([^"]+)#keys" rel="next"/.exec(first.text)?.[1] ?? '';
    const second = await operator.browser.get(older.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='));
    const keys = await relay.get(ApiKeyService).list(ann.accountId);
    expect([...idsIn(first.text), ...idsIn(second.text)]).toEqual(keys.map(({ id }) => id).toReversed());
    expect(second.text).not.toContain('rel="next"');
    expect((await operator.browser.get(`${there}?keys=nonsense`)).text).toContain('Page no longer available');
  });
});
