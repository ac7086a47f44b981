import { Config } from '../../platform/config/index.js';
import { Secret, UnreadableSecret } from '../../platform/shared/index.js';
import { CredentialVault } from './credential-store.js';

const vaultUnder = (secretKey: string): CredentialVault =>
  new CredentialVault(Config.fromEnvironment({ SECRET_KEY: secretKey }));

const KEY = 'k'.repeat(32);
const CHANNEL = 'chn_1';
const secret = new Secret('sk-upstream-ключ');

describe('CredentialVault', () => {
  const vault = vaultUnder(KEY);

  it('decrypts in every process with the same key', () => {
    const sealed = vault.seal(secret, CHANNEL);
    expect(vault.open(sealed, CHANNEL).reveal()).toBe(secret.reveal());
    expect(vaultUnder(KEY).open(sealed, CHANNEL).reveal()).toBe(secret.reveal());
  });

  it('encrypts equal secrets differently, without revealing them', () => {
    const texts = [vault.seal(secret, CHANNEL), vault.seal(secret, CHANNEL)];
    expect(new Set(texts).size).toBe(2);
    for (const text of texts) expect(Buffer.from(text.slice(3), 'base64url').includes('sk-upstream')).toBe(false);
  });

  it('rejects a text with a changed byte', () => {
    const sealed = vault.seal(secret, CHANNEL);
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const tampered = Buffer.from(bytes);
      tampered[index]! ^= 1;
      expect(() => vault.open(`v1.${tampered.toString('base64url')}`, CHANNEL)).toThrow(UnreadableSecret);
    }
  });

  it('rejects a truncated or empty text, and one of another version', () => {
    const sealed = vault.seal(secret, CHANNEL);
    for (const text of [sealed.slice(0, -4), 'v1.', '', `v2.${sealed.slice(3)}`, `${sealed}.x`])
      expect(() => vault.open(text, CHANNEL)).toThrow(UnreadableSecret);
  });

  it('rejects a text of another channel', () => {
    expect(() => vault.open(vault.seal(secret, CHANNEL), 'chn_2')).toThrow(UnreadableSecret);
  });

  it('reports a text encrypted with another SECRET_KEY', () => {
    expect(() => vaultUnder('o'.repeat(32)).open(vault.seal(secret, CHANNEL), CHANNEL)).toThrow(/SECRET_KEY/);
  });

  it('derives the same name in every process, and another one for another secret, channel or SECRET_KEY', () => {
    const id = vault.idOf(secret, CHANNEL);
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(vaultUnder(KEY).idOf(secret, CHANNEL)).toBe(id);
    const others = [
      vault.idOf(new Secret('sk-other'), CHANNEL),
      vault.idOf(secret, 'chn_2'),
      vaultUnder('o'.repeat(32)).idOf(secret, CHANNEL),
    ];
    expect(new Set([id, ...others]).size).toBe(4);
  });
});
