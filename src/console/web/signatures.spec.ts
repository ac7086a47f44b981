import { Config } from '../../platform/config/index.js';
import { Cursors } from './cursors.js';
import { Signatures } from './signatures.js';

const signatures = (secret = 'x'): Signatures =>
  new Signatures(Config.fromEnvironment({ SECRET_KEY: secret.repeat(32) }));

describe('Signatures', () => {
  it('opens what it sealed, for the same purpose alone', () => {
    const sealed = signatures().seal('flash', { title: 'Key “ä” deleted' });
    expect(signatures().open('flash', sealed)).toEqual({ title: 'Key “ä” deleted' });
    expect(signatures().open('cursor', sealed)).toBeUndefined();
  });

  it('opens nothing that was sealed under another key, changed, or never sealed', () => {
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

  it('takes a place of one list for none of another', () => {
    const cursors = new Cursors(signatures());
    const place = cursors.seal('calls', { id: 'req_1' });
    expect(cursors.open('calls', place)).toEqual({ id: 'req_1' });
    expect(cursors.open('top-ups', place)).toBeUndefined();
  });
});
