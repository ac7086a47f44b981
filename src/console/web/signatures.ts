import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Config } from '../../platform/config/index.js';

/** Keeps this key apart from every other one that is derived from SECRET_KEY. */
const PURPOSE = 'switchboard web signatures v1';

/** Signs what a browser keeps for us and must not change: HMAC-SHA256 under a key derived from SECRET_KEY. */
@Injectable()
export class Signatures {
  private readonly key: Buffer;

  constructor(config: Config) {
    this.key = Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', PURPOSE, 32));
  }

  /** @param purpose what was signed for one purpose is worth nothing for another */
  of(purpose: string, text: string): string {
    return createHmac('sha256', this.key).update(`${purpose}\0${text}`).digest('base64url');
  }

  matches(purpose: string, text: string, signature: string): boolean {
    return this.same(this.of(purpose, text), signature);
  }

  /** Compares two signatures in a time that tells nothing of where they differ. */
  same(one: string, other: string): boolean {
    const [own, given] = [Buffer.from(one), Buffer.from(other)];
    return own.length === given.length && timingSafeEqual(own, given);
  }

  /** A value with its signature, as text that may stand in an address or a cookie. */
  seal(purpose: string, value: unknown): string {
    const text = Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${text}.${this.of(purpose, text)}`;
  }

  /** What was sealed for this purpose; undefined for any other text. */
  open(purpose: string, sealed: string): unknown {
    const [text = '', signature = '', ...rest] = sealed.split('.');
    if (rest.length > 0 || !this.matches(purpose, text, signature)) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown;
  }
}
