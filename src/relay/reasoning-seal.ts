import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { OpaqueReasoning } from '../protocols/contract/index.js';
import { Config } from '../platform/config/index.js';
import { isJsonObject } from '../platform/shared/index.js';

/** Prefix of sealed reasoning. */
const VERSION = 'rly1';
const KEY_BYTES = 32;
const PURPOSE = 'switchboard reasoning of upstreams v1';
const KINDS: readonly unknown[] = [
  'signature',
  'redacted',
  'encrypted',
  'text',
  'summary',
] satisfies OpaqueReasoning['kind'][];

/**
 * Seals signed or encrypted reasoning, so that clients of another protocol can carry it back to the same vendor,
 * unchanged. Format: `rly1.`, base64url content, a dot, and an HMAC of both with a key derived from SECRET_KEY. Not
 * encrypted: clients were shown the content.
 */
@Injectable()
export class ReasoningSeal {
  /** For `unsealWith`. */
  readonly key: Buffer;

  constructor(config: Config) {
    this.key = Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', PURPOSE, KEY_BYTES));
  }

  seal({ kind, family, data, text, id }: OpaqueReasoning): string {
    const content = { k: kind, f: family, d: data, t: text, ...(id !== undefined && { i: id }) };
    const sealed = `${VERSION}.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;
    return `${sealed}.${this.mac(sealed).toString('base64url')}`;
  }

  /** As `unsealWith`. */
  unseal(text: string): OpaqueReasoning | undefined {
    return unsealWith(this.key, text);
  }

  private mac(text: string): Buffer {
    return macOf(this.key, text);
  }
}

/** Undefined if the text was not sealed with this key, or was modified. */
export function unsealWith(key: Uint8Array, text: string): OpaqueReasoning | undefined {
  const point = text.lastIndexOf('.');
  if (!text.startsWith(`${VERSION}.`) || point <= VERSION.length) return undefined;
  const given = Buffer.from(text.slice(point + 1), 'base64url');
  const expected = macOf(key, text.slice(0, point));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return opaqueIn(JSON.parse(Buffer.from(text.slice(VERSION.length + 1, point), 'base64url').toString('utf8')));
}

const macOf = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Texts of later versions may be unknown here. */
function opaqueIn(content: unknown): OpaqueReasoning | undefined {
  if (!isJsonObject(content)) return undefined;
  const { k: kind, f: family, d: data, t: text, i: id } = content;
  if (!isKind(kind) || typeof family !== 'string' || typeof data !== 'string' || typeof text !== 'string')
    return undefined;
  return { kind, family, data, text, ...(typeof id === 'string' && { id }) };
}

const isKind = (kind: unknown): kind is OpaqueReasoning['kind'] => KINDS.includes(kind);
