import { Config } from '../../platform/config/index.js';
import { ForeignForm, FormOrigin, maskedToken } from './form-posts.js';
import { Signatures } from './signatures.js';

function origin(environment: Record<string, string> = {}): FormOrigin {
  const config = Config.fromEnvironment({ SECRET_KEY: 'x'.repeat(32), ...environment });
  return new FormOrigin(config, new Signatures(config));
}

const PUBLIC = { PUBLIC_URL: 'https://relay.example.com' };

describe('FormOrigin', () => {
  const forms = origin();
  const token = forms.tokenFor('a visit');
  const body = { _csrf: maskedToken(token) };

  it('accepts a form with the token of its visit', () => {
    expect(() => forms.check({ host: 'localhost:3000' }, body, token)).not.toThrow();
  });

  it.each([
    ['without a token', {}],
    ['with an empty one', { _csrf: '' }],
    ['with one of another visit', { _csrf: maskedToken(origin().tokenFor('another visit')) }],
    ['with one that is not masked', { _csrf: token }],
    ['with one in another spelling', { _csrf: `${maskedToken(token)}=` }],
    ['with several', { _csrf: [maskedToken(token), maskedToken(token)] }],
  ])('refuses one %s', (_name, sent) => {
    expect(() => forms.check({ host: 'localhost:3000' }, sent, token)).toThrow(ForeignForm);
  });

  it('masks the token differently each time', () => {
    const masked = Array.from({ length: 20 }, () => maskedToken(token));
    expect(new Set(masked).size).toBe(20);
    for (const one of masked)
      expect(() => forms.check({ host: 'localhost:3000' }, { _csrf: one }, token)).not.toThrow();
  });

  it.each(['cross-site', 'same-site', 'nonsense'])('rejects a form when Sec-Fetch-Site is %s', (site) => {
    expect(() => forms.check({ host: 'h', 'sec-fetch-site': site }, body, token)).toThrow(ForeignForm);
  });

  it('accepts PUBLIC_URL as origin regardless of the requested host', () => {
    const own = origin(PUBLIC);
    const headers = { host: 'inner:3000', origin: 'https://relay.example.com', 'sec-fetch-site': 'same-origin' };
    expect(() => own.check(headers, body, token)).not.toThrow();
  });

  it.each(['https://relay.example.com.evil.example', 'https://evil.example', 'null', 'http://relay.example.com'])(
    'refuses what comes from %s',
    (from) => {
      expect(() => origin(PUBLIC).check({ host: 'inner:3000', origin: from }, body, token)).toThrow(ForeignForm);
    },
  );
});
