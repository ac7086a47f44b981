import { Config } from '../../platform/config/index.js';
import { Cursors, Signatures } from './signatures.js';

const signatures = (secret = 'x'): Signatures =>
  new Signatures(Config.fromEnvironment({ SECRET_KEY: secret.repeat(32) }));

describe('Signatures', () => {
  it('opens sealed values only for the same purpose', () => {
    const sealed = signatures().seal('flash', { title: 'Key “ä” deleted' });
    expect(signatures().open('flash', sealed)).toEqual({ title: 'Key “ä” deleted' });
    expect(signatures().open('cursor', sealed)).toBeUndefined();
  });

  it('rejects values that were sealed with another key, changed, or not sealed', () => {
    const sealed = signatures().seal('flash', { a: 1 });
    const [text = '', signature = ''] = sealed.split('.');
    const other = Buffer.from(JSON.stringify({ a: 2 })).toString('base64url');
    for (const forged of [
      signatures('y').seal('flash', { a: 1 }),
      `${other}.${signature}`,
      text,
      `${text}.`,
      '',
      '.',
      `${sealed}.x`,
    ])
      expect(signatures().open('flash', forged)).toBeUndefined();
  });

  it('rejects cursors of other lists', () => {
    const cursors = new Cursors(signatures());
    const place = cursors.seal('calls', { id: 'req_1' });
    expect(cursors.open('calls', place)).toEqual({ id: 'req_1' });
    expect(cursors.open('top-ups', place)).toBeUndefined();
  });
});
