import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { OpaqueReasoning } from '../protocols/contract/index.js';
import { Config } from '../platform/config/index.js';
import { isJsonObject } from '../platform/shared/index.js';

/** What sealed reasoning begins with, wherever a client sends it back. */
const VERSION = 'rly1';
const KEY_BYTES = 32;
const PURPOSE = 'switchboard reasoning of upstreams v1';
const KINDS: readonly unknown[] = ['signature', 'redacted', 'encrypted', 'text'] satisfies OpaqueReasoning['kind'][];

/**
 * Seals reasoning that a vendor has signed or encrypted, so that a client of another dialect can carry it: it comes back
 * to the very vendor as it was, and to no other. `rly1.`, the content in base64url, a point, and the HMAC of both under a
 * key derived from SECRET_KEY. Clients can read it: they have been shown what is in it.
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

/** Undefined when the text was not sealed under this key, or has been changed since. */
export function unsealWith(key: Uint8Array, text: string): OpaqueReasoning | undefined {
  const point = text.lastIndexOf('.');
  if (!text.startsWith(`${VERSION}.`) || point <= VERSION.length) return undefined;
  const given = Buffer.from(text.slice(point + 1), 'base64url');
  const expected = macOf(key, text.slice(0, point));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return opaqueIn(JSON.parse(Buffer.from(text.slice(VERSION.length + 1, point), 'base64url').toString('utf8')));
}

const macOf = (key: Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** A later version of the program may have sealed what this one does not know. */
function opaqueIn(content: unknown): OpaqueReasoning | undefined {
  if (!isJsonObject(content)) return undefined;
  const { k: kind, f: family, d: data, t: text, i: id } = content;
  if (!isKind(kind) || typeof family !== 'string' || typeof data !== 'string' || typeof text !== 'string')
    return undefined;
  return { kind, family, data, text, ...(typeof id === 'string' && { id }) };
}

const isKind = (kind: unknown): kind is OpaqueReasoning['kind'] => KINDS.includes(kind);
