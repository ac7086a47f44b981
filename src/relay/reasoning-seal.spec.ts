import type { OpaqueReasoning } from '../protocols/contract/index.js';
import { Config } from '../platform/config/index.js';
import { ReasoningSeal } from './reasoning-seal.js';

const sealUnder = (secretKey: string): ReasoningSeal =>
  new ReasoningSeal(Config.fromEnvironment({ SECRET_KEY: secretKey }));
const THOUGHT: OpaqueReasoning = { kind: 'signature', family: 'f', data: 'c2ln', text: 'Hm. ☃', id: 'rs_1' };

describe('sealed reasoning', () => {
  const seal = sealUnder('a'.repeat(32));

  it('is unsealed unchanged', () => {
    const redacted: OpaqueReasoning = { kind: 'redacted', family: 'f', data: 'x', text: '' };
    expect(seal.unseal(seal.seal(THOUGHT))).toEqual(THOUGHT);
    expect(seal.unseal(seal.seal(redacted))).toEqual(redacted);
  });

  it('contains only URL-safe characters', () => {
    expect(seal.seal(THOUGHT)).toMatch(/^rly1\.[\w-]+\.[\w-]{43}$/);
  });

  it.each([
    ['of another installation', sealUnder('b'.repeat(32)).seal(THOUGHT)],
    ['that was changed', seal.seal(THOUGHT).replace('rly1.e', 'rly1.f')],
    ['that was cut', seal.seal(THOUGHT).slice(0, -1)],
    ['of a vendor', 'EqQBCgIYAhIM'],
    ['without an end', 'rly1.abc'],
    ['without anything', ''],
  ])('is rejected when it is one %s (case 79)', (_, text) => {
    expect(seal.unseal(text)).toBeUndefined();
  });
});
