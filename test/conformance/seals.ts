import type { OpaqueReasoning } from '../../src/protocols/contract/index.js';

const PREFIX = 'rly1.';

/** Readable stand-ins for the relay's seals. */
export const seal = (opaque: OpaqueReasoning): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(opaque)).toString('base64url')}.seal`;

export function unseal(text: string): OpaqueReasoning | undefined {
  const [, payload = ''] = /^rly1\.([\w-]+)\.seal$/.exec(text) ?? [];
  return payload === '' ? undefined : (JSON.parse(Buffer.from(payload, 'base64url').toString()) as OpaqueReasoning);
}
