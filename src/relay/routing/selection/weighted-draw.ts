import { Injectable } from '@nestjs/common';

/** Whom chance is the same for every time, in every process: a conversation, whose prompt lies in somebody's cache. */
export type Affinity = number;

const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;
const TWO_TO_32 = 2 ** 32;

/** Made of whatever tells one conversation from another. */
export const affinityOf = (...names: readonly string[]): Affinity =>
  names.reduce((hash, name) => hashed(`${name}\n`, hash), FNV_OFFSET);

/**
 * When an exponential clock running at the rate of the weight rings. Of many clocks the first to ring is drawn: each is
 * first as often as its share of the weights says, and when it is left out, the others as often as their share of the
 * rest. With an affinity the same clock rings at the same time always, so that a conversation stays with one channel,
 * goes to the next while that one is out, and comes back; and a channel that is added or gone moves its own share alone.
 */
export function ringingTime(weight: number, name: string, affinity: Affinity | undefined, random: Random): number {
  const chance = affinity === undefined ? random.next() : mixed(hashed(name, affinity)) / TWO_TO_32;
  return -Math.log(1 - chance) / weight;
}

/** FNV-1a, begun with what was hashed before. */
function hashed(text: string, before: number): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
}

/** Every bit of it depends on every bit that went in, as the last steps of MurmurHash3 have it. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85_eb_ca_6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2_b2_ae_35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Chance; injected, so that a test can decide it. */
@Injectable()
export class Random {
  /** From 0 up to, not including, 1. */
  next(): number {
    return Math.random();
  }
}
