import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Config } from '../../platform/config/index.js';

/** Separates this key from others derived from SECRET_KEY. */
const PURPOSE = 'switchboard web signatures v1';

/** Signs values stored in browsers: HMAC-SHA256 with a key derived from SECRET_KEY. */
@Injectable()
export class Signatures {
  private readonly key: Buffer;

  constructor(config: Config) {
    this.key = Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', PURPOSE, 32));
  }

  /** @param purpose signatures are invalid for other purposes */
  of(purpose: string, text: string): string {
    return createHmac('sha256', this.key).update(`${purpose}\0${text}`).digest('base64url');
  }

  /** Constant-time comparison. */
  same(one: string, other: string): boolean {
    const [own, given] = [Buffer.from(one), Buffer.from(other)];
    return own.length === given.length && timingSafeEqual(own, given);
  }

  /** A signed value, safe in URLs and cookies. */
  seal(purpose: string, value: unknown): string {
    const text = Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${text}.${this.of(purpose, text)}`;
  }

  /** Undefined if it was not sealed for this purpose. */
  open(purpose: string, sealed: string): unknown {
    const [text = '', signature = '', ...rest] = sealed.split('.');
    if (rest.length > 0 || !this.same(this.of(purpose, text), signature)) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown;
  }
}

/** ID of the row that a list page ends before or starts after; neither on the first page. */
interface RowPlace {
  readonly before?: string;
  readonly after?: string;
  /** Value of the sort column in that row; absent if sorted by ID. */
  readonly value?: string;
}

/** Signed list cursors for URLs (`?before=`, `?after=`). */
@Injectable()
export class Cursors {
  constructor(private readonly signatures: Signatures) {}

  /** @param list name of the list; its cursors are invalid for other lists */
  seal(list: string, place: Readonly<Record<string, string>>): string {
    return this.signatures.seal(`cursor:${list}`, place);
  }

  /** Undefined if invalid: the first page is shown then, with a note. */
  open(list: string, text: string): Readonly<Record<string, string>> | undefined {
    return this.signatures.open(`cursor:${list}`, text) as Readonly<Record<string, string>> | undefined;
  }

  /** Undefined if invalid. */
  placeIn(list: string, query: Readonly<Record<string, unknown>>): RowPlace | undefined {
    const { before, after } = query;
    const sealed = before ?? after;
    if (sealed === undefined) return {};
    const { id, value } = (typeof sealed === 'string' ? this.open(list, sealed) : undefined) ?? {};
    if (id === undefined) return undefined;
    return { [before === undefined ? 'after' : 'before']: id, ...(value !== undefined && { value }) };
  }
}
