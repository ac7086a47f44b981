import { differencesOf, fieldsOf, readForm } from './section-form.js';

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

describe('readForm', () => {
  it('moves a password out of the SMTP URL', () => {
    const form = readForm('mail', { revision: '2', server: 'smtp://relay:secret@mail.example', from: '' });
    expect(form.values).toEqual({ revision: '2', server: 'smtp://relay@mail.example', from: '' });
    expect(form.value).toMatchObject({ server: 'smtp://relay@mail.example', serverPassword: 'secret' });
  });

  it('has the fields of the section, and rejects others', () => {
    const sent = { revision: '2', server: 'smtp://mail.example', serverPassword: 'p', from: '' };
    expect(readForm('mail', sent).value).toEqual({ ...sent, password: '' });
    expect(readForm('mail', { ...sent, sealedPassword: 'v1.x' }).errors).toHaveProperty('sealedPassword');
    expect(readForm('site', { revision: '2', password: 'p' }).errors).toHaveProperty('password');
  });

  it('rejects several values for one field, and a form without a revision', () => {
    expect(readForm('retention', { callsMonths: ['1', '2'] }).errors).toEqual({
      revision: 'This form is incomplete. Reload the page and try again.',
      callsMonths: 'Enter a single value.',
    });
  });
});

describe('fieldsOf', () => {
  it('shows one read-only field per environment variable', () => {
    const fixed = { variable: 'SMTP_URL', value: 'smtp://mail.example' };
    const value = { server: '', sealedPassword: '', from: '' };
    const edited = { value, revision: 0, fixed: { server: fixed, sealedPassword: fixed }, secrets: {} };
    expect(fieldsOf('mail', edited)).toMatchObject([
      { partial: 'admin/settings-fixed', name: 'server', label: 'SMTP server', fixed, isFixed: true },
      { partial: 'field', name: 'from', isFixed: false },
    ]);
  });
});
