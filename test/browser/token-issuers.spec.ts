import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { TokenIssuers } from '../../src/keys/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import { RelayApp } from '../support/relay-app.js';
import { TokenServer } from '../support/token-issuer.js';

describe('token issuers, in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let issuer: TokenServer;

  beforeAll(async () => {
    [relay, browser, issuer] = await Promise.all([RelayApp.start(), startBrowser(), TokenServer.start()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
    await issuer.close();
  });

  it('are added by an administrator, whose own token then has a key in the list', async () => {
    const operator = await operatorVisit(relay);
    const window = await Window.as(browser, operator.browser);
    const { page } = window;
    await page.goto('/admin/settings/token-issuers');
    await expectFine(window, 'token-issuers-none');
    await page.getByRole('link', { name: 'Add issuer' }).click();
    await page.getByRole('heading', { name: 'Add a token issuer' }).waitFor();
    await expectFine(window, 'token-issuer-new');
    await page.getByLabel('Name', { exact: true }).fill('Acme CI');
    await page.getByLabel('Issuer', { exact: true }).fill('login.acme.example');
    await page.getByRole('button', { name: 'Add issuer' }).click();
    await page.getByText('Enter an https:// address, exactly as').first().waitFor();
    await expectFine(window, 'token-issuer-errors');
    await page.getByLabel('Issuer', { exact: true }).fill(issuer.issuer);
    await page.getByLabel('Audience').fill('relay');
    await page.getByRole('button', { name: 'Add issuer' }).click();
    await page.getByText('Acme CI added').waitFor();
    await expectFine(window, 'token-issuers');
    await page.getByRole('link', { name: 'Acme CI' }).click();
    await page.getByRole('button', { name: 'Save issuer' }).waitFor();
    await expectFine(window, 'token-issuer');

    await relay
      .get(DataSource)
      .query(
        `INSERT INTO linked_identities (id, account_id, issuer, subject, linked_at) VALUES ('idn_1', $1, $2, 'ann', now())`,
        [operator.accountId, issuer.issuer],
      );
    expect(await relay.get(TokenIssuers).list()).toHaveLength(1);
    const headers = { authorization: `Bearer ${await issuer.token({ sub: 'ann' })}` };
    expect((await fetch(`${relay.url}/v1/key`, { headers })).status).toBe(200);
    await page.goto('/keys');
    await page.getByText('JWT', { exact: true }).waitFor();
    await expectFine(window, 'token-key');
    await page.goto(`/admin/users/${operator.accountId}`);
    await page.getByText('JWT', { exact: true }).waitFor();
    await window.close();
  }, 180_000);
});
