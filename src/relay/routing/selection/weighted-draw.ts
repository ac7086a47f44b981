import { Injectable } from '@nestjs/common';

/** Seeds the draw, so that a conversation gets the same channel every time in every process. */
export type Affinity = number;

const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;
const TWO_TO_32 = 2 ** 32;

/** A hash of whatever identifies the conversation. */
export const affinityOf = (...names: readonly string[]): Affinity =>
  names.reduce((hash, name) => hashed(`${name}\n`, hash), FNV_OFFSET);

/**
 * When an exponential clock with the weight as its rate rings; the first clock wins. Each wins in proportion to its
 * weight, also after others are left out. With an affinity the times are deterministic: a conversation keeps its
 * channel, moves to the next one while that is out, and returns; adding or removing a channel only moves its own share.
 */
export function ringingTime(weight: number, name: string, affinity: Affinity | undefined, random: Random): number {
  const chance = affinity === undefined ? random.next() : mixed(hashed(name, affinity)) / TWO_TO_32;
  return -Math.log(1 - chance) / weight;
}

/** FNV-1a, continued from an earlier hash. */
function hashed(text: string, before: number): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
}

/** Finalizer of MurmurHash3: every output bit depends on every input bit. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85_eb_ca_6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2_b2_ae_35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Injected, so that tests can control it. */
@Injectable()
export class Random {
  /** In [0, 1). */
  next(): number {
    return Math.random();
  }
}
