import { generateKeyPairSync } from 'node:crypto';
import { ACCOUNT_EMAIL, aKeyFile, KEY_LINE } from '../../../test/support/token-service.js';
import { Secret } from '../../platform/shared/index.js';
import { credentialOf } from './credential-store.js';
import { compactCredential, isKeyFile, readKeyFile } from './service-account.js';

const pemOf = (type: 'ec' | 'rsa'): string => {
  const { privateKey } =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 1024 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

describe('readKeyFile', () => {
  it('reads a key file, with line breaks or without', () => {
    const read = readKeyFile(aKeyFile());
    expect(read).toMatchObject({ email: ACCOUNT_EMAIL, projectId: 'house-project', keyId: '0a1b2c3d4e5f' });
    expect(read.privateKey.asymmetricKeyType).toBe('rsa');
    expect(readKeyFile(compactCredential(aKeyFile())).digest).toBe(read.digest);
    expect(readKeyFile(aKeyFile({ client_id: '2' })).digest).not.toBe(read.digest);
  });

  it('accepts the former token_uri, and files without one', () => {
    for (const token_uri of ['https://accounts.google.com/o/oauth2/token', undefined])
      expect(readKeyFile(aKeyFile({ token_uri })).email).toBe(ACCOUNT_EMAIL);
  });

  it.each([
    ['no JSON', '{ "type": "service_account", ', 'is not a JSON key file'],
    ['too long', aKeyFile({ comment: 'x'.repeat(16_384) }), 'is not a JSON key file'],
    ['of a user', aKeyFile({ type: 'authorized_user' }), 'must have the type “service_account”'],
    ['for another token service', aKeyFile({ token_uri: 'http://169.254.169.254/token' }), 'must have the token_uri'],
    ['of another cloud', aKeyFile({ universe_domain: 'example.test' }), 'must have the universe_domain googleapis.com'],
    ['without an account', aKeyFile({ client_email: 7 }), 'has no valid client_email'],
    ['without a key', aKeyFile({ private_key: undefined }), 'has no valid private_key'],
    ['with a broken key', aKeyFile({ private_key: `-----BEGIN ${KEY_LINE}` }), 'has no valid private_key'],
    ['with a key of another kind', aKeyFile({ private_key: pemOf('ec') }), 'must have an RSA private_key of 2048 bits'],
    ['with a short key', aKeyFile({ private_key: pemOf('rsa') }), 'must have an RSA private_key of 2048 bits'],
  ])('rejects a file that is %s, without showing the key', (_, text, reason) => {
    expect(() => readKeyFile(text)).toThrow(reason);
    expect(() => readKeyFile(text)).not.toThrow(KEY_LINE);
  });
});

describe('credentials', () => {
  it('are key files only if they are JSON objects', () => {
    expect(['sk-1', 'AIza', '12345', 'env:KEY', ' {"a":1}'].map(isKeyFile)).toEqual([false, false, false, false, true]);
    expect(credentialOf('c', new Secret('sk-1'))).not.toHaveProperty('serviceAccount');
    expect(credentialOf('c', new Secret(aKeyFile())).serviceAccount?.email).toBe(ACCOUNT_EMAIL);
  });

  it('are stored on one line if they are key files, and as they are otherwise', () => {
    expect(compactCredential(aKeyFile())).not.toContain('\n');
    for (const text of ['sk-1', '{ broken']) expect(compactCredential(text)).toBe(text);
  });
});
