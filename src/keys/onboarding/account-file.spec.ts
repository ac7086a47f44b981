import { parseAccountFile } from './account-import.js';

describe('parseAccountFile', () => {
  it('reads accounts with group and credit', () => {
    const { accounts, errors } = parseAccountFile(
      '\uFEFFemail,name,group,credit,monthly_allowance\r\nAnn@Example.com,"Miller, Ann",saver,12.50,20\r\n\r\nbob@example.com,,,,\r\n',
    );
    expect(errors).toEqual([]);
    expect(accounts).toEqual([
      {
        line: 2,
        email: 'ann@example.com',
        name: 'Miller, Ann',
        groupName: 'saver',
        credit: 12_500_000_000n,
        allowance: 20_000_000_000n,
      },
      { line: 4, email: 'bob@example.com', name: '', groupName: undefined, credit: 0n, allowance: 0n },
    ]);
  });

  it('requires only the email column', () => {
    expect(parseAccountFile('name,email\nAnn,ann@example.com\n')).toMatchObject({
      accounts: [{ email: 'ann@example.com', name: 'Ann' }],
      errors: [],
    });
  });

  it('reports every invalid line with its errors', () => {
    const { errors } = parseAccountFile(
      [
        'email,name,group,credit,monthly_allowance',
        'ann,,,,',
        'bob@example.com,,,-5,',
        'cy@example.com,,,1e3,$20',
        'bob@EXAMPLE.com,,,,',
        'dee@example.com,"two\nlines",,,',
      ].join('\n'),
    );
    expect(errors).toEqual([
      'line 2: "ann" is not a valid email address.',
      'line 3: "-5" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.',
      'line 4: "1e3" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.',
      'line 4: "$20" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.',
      'line 5: bob@example.com is already on line 3.',
      'line 7: A name has at most 100 characters and no line breaks.',
    ]);
  });

  it.each([
    '',
    'email\n',
    'name\nAnn\n',
    'email,mail\na@example.com,x\n',
    'email,email\na@b.cc,c@d.ee\n',
    'email,name\nann@example.com\n',
  ])('refuses %j', (text) => {
    expect(parseAccountFile(text)).toMatchObject({ accounts: [], errors: [expect.any(String)] });
  });
});
