import { normalizeEmail } from './email-address.js';

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
  ])('takes %j for no address', (text) => {
    expect(normalizeEmail(text)).toBeUndefined();
  });
});
