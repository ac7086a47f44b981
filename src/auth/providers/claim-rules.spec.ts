import { assignmentsBy, checkRules, type ClaimRule, listedClaims, ruleResults } from './claim-rules.js';

const rule = (changes: Partial<ClaimRule> = {}): ClaimRule => ({
  claim: 'groups',
  value: 'staff',
  target: 'administrator',
  id: '',
  detail: '',
  label: 'administrator',
  ...changes,
});
const applies = (claim: string, value: string, claims: Record<string, unknown>): boolean =>
  ruleResults([rule({ claim, value })], claims)[0] === 'applies';

describe('claim rules', () => {
  it.each([
    ['department', 'R&D', { department: 'R&D' }],
    ['groups', 'staff', { groups: ['users', 'staff'] }],
    ['realm_access.roles', 'admin', { realm_access: { roles: ['admin'] } }],
    ['https://acme.example/roles', 'admin', { 'https://acme.example/roles': ['admin'] }],
    ['https://acme.example/app.roles', 'admin', { 'https://acme.example/app': { roles: ['admin'] } }],
    ['teams.name', 'search', { teams: [{ name: 'ads' }, { name: 'search' }] }],
    ['level', '3', { level: 3 }],
    ['email_verified', 'true', { email_verified: true }],
  ])('match %s = %s in %j', (claim, value, claims) => {
    expect(applies(claim, value, claims)).toBe(true);
  });

  it.each([
    ['groups', 'staff', {}],
    ['groups', 'staff', { groups: ['Staff', 'staff-all', 'sta'] }],
    ['groups', 'staff', { groups: 'staff admin' }],
    ['groups', '[object Object]', { groups: {} }],
    ['groups', 'null', { groups: null }],
    ['constructor.name', 'Object', {}],
    ['__proto__', 'x', { groups: 'x' }],
  ])('do not match %s = %s in %j', (claim, value, claims) => {
    expect(applies(claim, value, claims)).toBe(false);
  });

  it('do not look into endless nesting', () => {
    let nested: unknown = 'staff';
    for (let depth = 0; depth < 100_000; depth++) nested = [nested];
    expect(applies('groups', 'staff', { groups: nested })).toBe(false);
  });

  it('count once for each target, the first match', () => {
    const rules = [
      rule({ target: 'group', id: 'slow', value: 'interns' }),
      rule({ target: 'group', id: 'saver' }),
      rule({ target: 'group', id: 'fast', value: 'users' }),
      rule({ target: 'organization', id: 'acc_1', detail: 'admin' }),
      rule({ target: 'organization', id: 'acc_1', detail: 'viewer' }),
      rule({ target: 'organization', id: 'acc_2', detail: 'viewer' }),
      rule({ target: 'team', id: 'acc_1', detail: 'team_1' }),
    ];
    const claims = { groups: ['users', 'staff'] };
    expect(ruleResults(rules, claims)).toEqual([
      'no match',
      'applies',
      'overruled',
      'applies',
      'overruled',
      'applies',
      'applies',
    ]);
    expect(assignmentsBy(rules, claims)).toEqual({
      assigned: [rules[1], rules[3], rules[5], rules[6]],
      unreadable: [],
    });
  });

  it('are unreadable when the provider keeps the claim elsewhere, and later rules of the target do not decide', () => {
    const overage = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph' } } };
    const rules = [rule(), rule({ claim: 'department', value: 'IT' }), rule({ claim: 'department', target: 'group' })];
    const claims = { ...overage, department: 'IT' };
    expect(ruleResults(rules, claims)).toEqual(['unreadable', 'overruled', 'no match']);
    expect(assignmentsBy(rules, claims)).toEqual({ assigned: [], unreadable: ['administrator'] });
  });

  it.each([
    [{ claim: '' }, 'Rule 1: Enter the name of a claim'],
    [{ claim: 'a b' }, 'Rule 1: Enter the name of a claim'],
    [{ value: '' }, 'Rule 1: Enter the value'],
  ])('are refused with %j', (changes, message) => {
    expect(() => checkRules([rule(changes)])).toThrow(message);
  });

  it('are limited in number', () => {
    expect(() => checkRules(Array.from({ length: 101 }, () => rule()))).toThrow('there can be 100 at most');
  });
});

describe('listed claims', () => {
  it('have the paths that rules name them by', () => {
    const claims = {
      sub: '1',
      groups: ['a', 'b'],
      realm_access: { roles: ['admin'] },
      address: null,
      teams: [{ id: 1 }],
    };
    expect(listedClaims(claims)).toEqual([
      { path: 'sub', values: ['1'] },
      { path: 'groups', values: ['a', 'b'] },
      { path: 'realm_access.roles', values: ['admin'] },
      { path: 'address', values: ['null'] },
      { path: 'teams', values: ['{"id":1}'] },
    ]);
  });
});
