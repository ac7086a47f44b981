import { differencesOf } from './settings-conflict.js';

describe('what two people have set differently', () => {
  it('is told field by field, with what stands there now and what was typed', () => {
    const now = { name: 'Theirs', supportContact: '', terms: 'One.\nTwo.', statusIsPublic: 'yes' };
    const typed = { revision: '1', name: 'Mine', supportContact: '', terms: 'One.\r\nTwo.' };
    expect(differencesOf('site', now, typed)).toEqual([
      { label: 'Name', now: 'Theirs', yours: 'Mine' },
      { label: 'Status page for everybody', now: 'yes', yours: '–' },
    ]);
  });

  it('is nothing of a field that the environment sets, which is not sent', () => {
    const now = { mode: 'open', domains: '', startingCredit: '0' };
    expect(differencesOf('signUp', now, { revision: '1', domains: 'acme.example', startingCredit: '0' })).toEqual([
      { label: 'Domains', now: '–', yours: 'acme.example' },
    ]);
  });
});
