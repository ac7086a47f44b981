import { Secret } from '../../platform/shared/index.js';
import { openContent, type ResponseOwner, sealContent } from './stored-response.js';

const ID = 'resp_1';
const CONTENT = { input: '["marker-of-a-prompt"]', response: '{"id":"resp_1"}' };

const anOwner = (overrides: Partial<ResponseOwner> = {}): ResponseOwner => ({
  keyId: 'key_1',
  accountId: 'acc_1',
  secret: new Secret('sk-one'),
  ...overrides,
});

describe('sealed content', () => {
  it('opens unchanged for the key it was sealed for', async () => {
    const sealed = await sealContent(CONTENT, anOwner(), ID);
    await expect(openContent(sealed, anOwner(), ID)).resolves.toEqual(CONTENT);
  });

  it('does not open with another secret, key or ID', async () => {
    const sealed = await sealContent(CONTENT, anOwner(), ID);
    await expect(openContent(sealed, anOwner({ secret: new Secret('sk-two') }), ID)).resolves.toBeUndefined();
    await expect(openContent(sealed, anOwner({ keyId: 'key_2' }), ID)).resolves.toBeUndefined();
    await expect(openContent(sealed, anOwner(), 'resp_2')).resolves.toBeUndefined();
  });

  it('does not open when a byte was changed or it was truncated', async () => {
    const sealed = await sealContent(CONTENT, anOwner(), ID);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(openContent(changed, anOwner(), ID)).resolves.toBeUndefined();
    }
    for (const length of [0, 27, sealed.length - 1])
      await expect(openContent(sealed.subarray(0, length), anOwner(), ID)).resolves.toBeUndefined();
  });

  it('does not reveal the plaintext, and encrypts equal inputs differently', async () => {
    const [one, other] = [await sealContent(CONTENT, anOwner(), ID), await sealContent(CONTENT, anOwner(), ID)];
    expect(one.toString('latin1')).not.toContain('marker');
    expect(one.equals(other)).toBe(false);
  });

  it('is compressed', async () => {
    const content = { ...CONTENT, input: JSON.stringify('again and '.repeat(10_000)) };
    expect((await sealContent(content, anOwner(), ID)).length).toBeLessThan(1000);
  });
});
