import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { Config } from '../../platform/config/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { FormBody } from './form.js';
import { Signatures } from './signatures.js';

/** The form did not come from one of our pages shown to this browser. */
export class ForeignForm extends AppError {
  constructor() {
    super('permission_denied', 'This page has expired. Reload it and try again.');
  }
}

/** CSRF protection: checks the form token and the `Origin` and `Sec-Fetch-Site` headers. */
@Injectable()
export class FormOrigin {
  private readonly origin: string | undefined;

  constructor(
    config: Config,
    private readonly signatures: Signatures,
  ) {
    this.origin = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).origin;
  }

  /** The CSRF token for forms of the browser with this visit token. */
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
