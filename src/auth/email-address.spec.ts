import { alikeForm, normalizeEmail } from './email-address.js';

describe('normalizeEmail', () => {
  it.each([
    ['Ann@Example.COM', 'ann@example.com'],
    [' ann@example.com ', 'ann@example.com'],
    ['a.b+tag@sub.example.co', 'a.b+tag@sub.example.co'],
    ['admin@switchboard.internal', 'admin@switchboard.internal'],
  ])('stores %j as %j', (text, email) => {
    expect(normalizeEmail(text)).toBe(email);
  });

  it.each([
    '',
    'ann',
    'ann@',
    '@example.com',
    'ann@example',
    'a b@example.com',
    'ann@example.com\nbcc:x@example.com',
    'änn@example.com',
    '"ann"@example.com',
    '"a b"@example.com',
    'ann,eve@example.com',
    '<ann@example.com>',
  ])('rejects %j', (text) => {
    expect(normalizeEmail(text)).toBeUndefined();
  });
});

describe('alikeForm', () => {
  it.each([
    ['ann@example.com', 'ann@example.com'],
    ['ann+news@example.com', 'ann@example.com'],
    ['ann+a+b@example.com', 'ann@example.com'],
    ['an.n@example.com', 'an.n@example.com'],
    ['a.n.n+x@gmail.com', 'ann@gmail.com'],
    ['a.nn@googlemail.com', 'ann@gmail.com'],
    ['+ann@example.com', '+ann@example.com'],
  ])('takes %s for %s', (email, form) => {
    expect(alikeForm(email)).toBe(form);
  });
});
