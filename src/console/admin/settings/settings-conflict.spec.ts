import { differencesOf } from './settings-conflict.js';

describe('differencesOf', () => {
  it('returns the stored and the typed value of each differing field', () => {
    const now = { name: 'Theirs', supportContact: '', terms: 'One.\nTwo.', statusIsPublic: 'yes' };
    const typed = { revision: '1', name: 'Mine', supportContact: '', terms: 'One.\r\nTwo.' };
    expect(differencesOf('site', now, typed)).toEqual([
      { label: 'Name', now: 'Theirs', yours: 'Mine' },
      { label: 'Public status page', now: 'yes', yours: '–' },
    ]);
  });

  it('ignores fields that are not sent because the environment sets them', () => {
    const now = { mode: 'open', domains: '', startingCredit: '0' };
    expect(differencesOf('signUp', now, { revision: '1', domains: 'acme.example', startingCredit: '0' })).toEqual([
      { label: 'Allowed email domains', now: '–', yours: 'acme.example' },
    ]);
  });
});
