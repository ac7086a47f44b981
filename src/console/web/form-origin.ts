import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { Config } from '../../platform/config/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { FormBody } from './form.js';
import { Signatures } from './signatures.js';

/** A form that was not sent from a page of ours which this browser was shown. */
export class ForeignForm extends AppError {
  constructor() {
    super(
      'permission_denied',
      'This form has expired; nothing was changed. Go back, reload the page and submit it again.',
    );
  }
}

/** Tells our own forms from those that other sites have a browser send: by a token, and by what the browser says. */
@Injectable()
export class FormOrigin {
  private readonly origin: string | undefined;

  constructor(
    config: Config,
    private readonly signatures: Signatures,
  ) {
    this.origin = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).origin;
  }

  /** What the forms of the browser with this visit token carry. */
  tokenFor(visitToken: string): string {
    return this.signatures.of('csrf', visitToken);
  }

  /** @throws ForeignForm */
  check(headers: IncomingHttpHeaders, body: FormBody, expected: string): void {
    const { _csrf: token } = body;
    const site = headers['sec-fetch-site'];
    const ours =
      typeof token === 'string' &&
      this.signatures.same(token, expected) &&
      (site === undefined || site === 'same-origin' || site === 'none') &&
      this.isOurs(headers.origin, headers.host);
    if (!ours) throw new ForeignForm();
  }

  /** Behind a proxy only PUBLIC_URL knows the address; without one people may reach us under any. */
  private isOurs(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || origin === this.origin) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }
}
