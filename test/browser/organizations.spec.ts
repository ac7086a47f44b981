import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { Members, Organizations, Teams } from '../../src/keys/organizations/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { aMember, anOrganization, type TestMember } from '../support/organizations.js';
import { RelayApp } from '../support/relay-app.js';

const NO_LIMITS = { lifetime: undefined, daily: undefined, weekly: undefined, monthly: undefined };

describe('the pages of an organization in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let owner: TestMember;
  let member: TestMember;
  let teamId: string;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    const id = await anOrganization(relay, 'W'.repeat(60), '10000');
    owner = await aMember(relay, id, 'owner', 'Ann Owner');
    member = await aMember(relay, id, 'member', 'M'.repeat(60));
    const by = { id, memberId: owner.memberId };
    const budgets = { ...NO_LIMITS, daily: parseUsd('10'), monthly: parseUsd('1000') };
    teamId = await relay.get(Teams).create(by, {
      name: 'T'.repeat(60),
      models: ['gpt-5.5'],
      groups: undefined,
      networks: ['203.0.113.0/24'],
      budgets,
    });
    await relay.get(Members).setTeam(by, member.memberId, teamId);
    const { version } = await relay.get(Members).get(id, member.memberId);
    await relay.get(Members).setLimits(by, member.memberId, version, { budgets, maxKeys: 5 });
    await relay.get(Organizations).offer(by, member.memberId);
    await relay.get(DataSource).query('SELECT open_member_budgets(ARRAY[$1])', [member.memberId]);
    await relay
      .get(DataSource)
      .query(`UPDATE budgets SET used = 9000000000 WHERE holder_id = $1 AND period <> 'week'`, [member.memberId]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const expectFineAt = async (of: TestMember, path: string, name: string): Promise<void> => {
    const window = await Window.as(browser, of.browser);
    await window.page.goto(path);
    await expectFine(window, name);
    await window.close();
  };

  it.each([
    ['organizations', () => '/organizations'],
    ['organization', () => '/organization'],
    ['members', () => '/organization/members'],
    ['member', () => `/organization/members/${member.memberId}`],
    ['invite', () => '/organization/members/invite'],
    ['remove', () => `/organization/members/${member.memberId}/remove`],
    ['teams', () => '/organization/teams'],
    ['team', () => `/organization/teams/${teamId}`],
    ['team-delete', () => `/organization/teams/${teamId}/delete`],
    ['organization-settings', () => '/organization/settings'],
    ['join', () => '/join'],
  ])('are accessible and fit for the owner: %s', (name, path) => expectFineAt(owner, path(), name));

  it.each([
    ['own-budgets', '/organization'],
    ['own-settings', '/organization/settings'],
  ])('are accessible and fit for a member: %s', (name, path) => expectFineAt(member, path, name));
});
