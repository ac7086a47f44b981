import { createHash } from 'node:crypto';
import type { Channel } from './channel.js';

const DIGEST_LENGTH = 12;

/** Whose reasoning a channel can read. Clients carry it about, so that it must not say where the upstream is. */
export function familyOf({ protocol, baseUrl, flags }: Pick<Channel, 'protocol' | 'baseUrl' | 'flags'>): string {
  const { family } = flags;
  if (typeof family === 'string') return family;
  const address = new URL(baseUrl).origin;
  return createHash('sha256').update(`${protocol} ${address}`).digest('hex').slice(0, DIGEST_LENGTH);
}
