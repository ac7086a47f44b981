import { SignInProviders } from '../../src/auth/index.js';
import { forgetSignIn, OPERATOR_PASSWORD, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { useProvider } from '../support/provider-world.js';

const PAGE = '/admin/settings/providers/acme/claims';
const TRY = '/admin/settings/providers/acme/try';

type Fields = Record<string, string | string[]>;

describe('the rules of a sign-in provider', () => {
  const world = useProvider();
  const { callbackOf, rules, sql } = world;
  let operator: OperatorVisit;

  beforeAll(async () => {
    await sql(`INSERT INTO accounts (id, email, name, kind) VALUES ('org_1', 'o@organization.invalid', 'Research', 'organization')`); // prettier-ignore
    await sql(`INSERT INTO organizations (id) VALUES ('org_1')`);
    await sql(`INSERT INTO teams (id, organization_id, name) VALUES ('team_1', 'org_1', 'Search')`);
  });
  beforeEach(async () => {
    operator = await operatorVisit(world.relay);
    await rules([]);
  });

  const save = async (fields: Fields): Promise<PageResponse> => {
    const { text } = await operator.browser.get(PAGE);
    const revision = /name="revision" value="(\d+)"/.exec(text)?.[1] ?? '';
    return operator.browser.post(PAGE, { revision, scopes: '', ...fields });
  };
  const stored = async () => {
    const { rules: list, scopes } = await world.relay.get(SignInProviders).get('acme');
    return { list, scopes };
  };
  const WHOLE: Fields = {
    scopes: 'groups offline',
    claim: ['groups', ' groups ', 'realm_access.roles', 'department', ''],
    value: ['admins', 'saving', 'research', 'IT', ''],
    assigns: ['administrator', 'group:saver', 'organization:org_1', 'team:org_1:team_1', ''],
    role: ['viewer', '', '', '', ''],
  };

  it('are saved in order, with labels, and recorded', async () => {
    expect((await save(WHOLE)).location).toBe(PAGE);
    const { list, scopes } = await stored();
    expect(scopes).toBe('groups offline');
    expect(list).toEqual([
      { claim: 'groups', value: 'admins', target: 'administrator', id: '', detail: '', label: 'administrator' },
      { claim: 'groups', value: 'saving', target: 'group', id: 'saver', detail: '', label: 'group saver' },
      {
        claim: 'realm_access.roles',
        value: 'research',
        target: 'organization',
        id: 'org_1',
        detail: 'member',
        label: 'organization Research, member',
      },
      {
        claim: 'department',
        value: 'IT',
        target: 'team',
        id: 'org_1',
        detail: 'team_1',
        label: 'team Search of Research',
      },
    ]);
    const [entry] = await sql<{ actor_name: string; lines: string[] }>(
      `SELECT actor_name, lines FROM audit_entries WHERE object_id = 'sign-in provider acme' ORDER BY id DESC LIMIT 1`,
    );
    expect(entry?.actor_name).toBe(operator.email);
    expect(entry?.lines).toContain('scopes none → groups offline');
    expect(entry?.lines).toContain('rule added: groups = admins: administrator');
    const { text } = await operator.browser.get(PAGE);
    expect(text).toMatch(/value="organization:org_1" selected/);
    expect(text).toMatch(/value="team:org_1:team_1" selected/);
    expect((await save(WHOLE)).location).toBe(PAGE);
    expect((await operator.browser.get(PAGE)).text).toContain('No changes');
  });

  it('are added and removed by row without being saved', async () => {
    const row = { claim: 'groups', value: 'admins', assigns: 'administrator', role: '' };
    const added = await save({ ...row, _act: 'row' });
    expect(added.status).toBe(200);
    expect(added.text).toContain('id="claim-2"');
    expect(added.text).toContain('value="admins"');
    const removed = await save({ ...WHOLE, _act: 'remove:1' });
    expect(removed.text).toContain('id="claim-4"');
    expect(removed.text).not.toContain('id="claim-5"');
    expect(removed.text).not.toContain('value="admins"');
    expect((await stored()).list).toEqual([]);
  });

  it.each<[string, Fields, string]>([
    ['claim', { claim: '', value: 'x', assigns: 'administrator', role: '' }, 'Rule 1: Enter the name of a claim'],
    ['value', { claim: 'x', value: '', assigns: 'administrator', role: '' }, 'Rule 1: Enter the value'],
    ['target', { claim: 'x', value: 'x', assigns: '', role: '' }, 'Rule 1: Choose what the rule assigns.'],
    ['group', { claim: 'x', value: 'x', assigns: 'group:none', role: '' }, 'Rule 1: Choose what the rule assigns.'],
    ['team', { claim: 'x', value: 'x', assigns: 'team:org_1:t', role: '' }, 'Rule 1: Choose what the rule assigns.'],
    ['scopes', { scopes: 'groups, "all"' }, 'Enter scopes separated by spaces'],
  ])('are refused with a wrong %s, and what was entered stays', async (_, fields, message) => {
    const { status, text } = await save(fields);
    expect(status).toBe(422);
    expect(text).toContain(message);
    expect((await stored()).list).toEqual([]);
  });

  it('cannot assign the owner of an organization', async () => {
    const owner = { claim: 'x', value: 'x', assigns: 'organization:org_1', role: 'owner' };
    expect((await save(owner)).status).toBe(422);
    expect((await stored()).list).toEqual([]);
  });

  it('are not saved over changes that were saved meanwhile, nor without a recent sign-in', async () => {
    await operator.browser.get(PAGE);
    await rules([{ value: 'others' }]);
    const late = await operator.browser.post(PAGE, { ...WHOLE, revision: '1' });
    expect(late.status).toBe(409);
    expect(late.text).toContain('groups = others: administrator');
    await forgetSignIn(world.relay, operator.accountId);
    expect((await save(WHOLE)).status).toBe(422);
    expect((await stored()).list).toMatchObject([{ value: 'others' }]);
    expect((await save({ ...WHOLE, password: OPERATOR_PASSWORD })).location).toBe(PAGE);
  });

  describe('tried by an administrator', () => {
    const counts = (): Promise<unknown[]> =>
      sql(`SELECT (SELECT count(*)::int FROM linked_identities) AS identities, (SELECT count(*)::int FROM accounts) AS
           accounts, (SELECT count(*)::int FROM provider_sessions) AS sessions,
           (SELECT count(*)::int FROM audit_entries) AS entries`);

    it('show the claims, and which rules match, and change nothing', async () => {
      await rules([
        { value: 'interns' },
        { target: 'group', id: 'saver', label: 'group saver' },
        { value: 'users', target: 'group', id: 'fast', label: 'group fast' },
      ]);
      world.idp.claims = { ...world.idp.claims, groups: ['users', 'staff'], realm_access: { roles: ['<b>x</b>'] } };
      const before = await counts();
      const callback = await callbackOf(operator.browser, TRY);
      const { status, text, headers } = await operator.browser.get(callback);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      for (const shown of ['realm_access.roles', '&lt;b&gt;x&lt;/b&gt;', world.idp.subject, 'email_verified'])
        expect(text).toContain(shown);
      const results = [...text.matchAll(/<span class="badge[^"]*">([^<]*)</g)].map(([, label]) => label);
      expect(results).toEqual(['No match', 'Applies', 'An earlier rule decides']);
      expect(await counts()).toEqual(before);
      expect((await operator.browser.get(callback)).location).toBe('/account');
    });

    it('say so when the provider leaves out groups', async () => {
      await rules([{}]);
      world.idp.claims = { ...world.idp.claims, _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } };
      const { text } = await operator.browser.get(await callbackOf(operator.browser, TRY));
      expect(text).toContain('The provider left out claims');
      expect(text).toContain('Claim not sent');
    });

    it('lead back with the reason when the sign-in fails', async () => {
      world.idp.isDenied = true;
      const { location } = await operator.browser.get(await callbackOf(operator.browser, TRY));
      expect(location).toBe(PAGE);
      expect((await operator.browser.get(PAGE)).text).toContain('The sign-in was canceled');
    });

    it('show nothing to a user who is no longer an administrator', async () => {
      const callback = await callbackOf(operator.browser, TRY);
      await sql(`UPDATE accounts SET role = 'user' WHERE id = $1`, operator.accountId);
      const { status, text } = await operator.browser.get(callback);
      expect(status).toBe(303);
      expect(text).not.toContain(world.idp.subject);
    });
  });
});
