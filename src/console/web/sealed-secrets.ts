import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { Config } from '../../platform/config/index.js';
import { Clock, SealingKey, Secret } from '../../platform/shared/index.js';
import type { FormBody } from './form.js';

/** Separates this key from others derived from SECRET_KEY. */
const PURPOSE = 'switchboard typed secrets v1';
/** Long enough to fill in the largest form. */
const LIFETIME_MS = 30 * 60_000;

/** Field of the typed secrets; they are never shown again. */
const TYPED = 'secret';
/** Hidden fields parallel to the typed ones. */
const SEALED = '_sealed';
/** `typed`, `kept` from an earlier submission, `expired`, or empty; parallel as well, and never read from a browser. */
const STATES = '_secretStates';

/**
 * Keeps secrets that were typed into a form while its other buttons are used. The page carries them encrypted in hidden
 * fields, which only the same session can use, for the same form and for 30 minutes.
 */
@Injectable()
export class SealedSecrets {
  private readonly key: SealingKey;

  constructor(
    { secretKey }: Config,
    private readonly clock: Clock,
  ) {
    this.key = new SealingKey(secretKey, PURPOSE);
  }

  /**
   * The submitted form with earlier typed secrets in place of empty fields, and sealed again for the next page.
   * @param form name of the form; secrets of other forms are not accepted
   */
  reopened(visitor: Visitor, form: string, body: FormBody): FormBody {
    const [typed, sealed] = [listOf(body, TYPED), listOf(body, SEALED)];
    const secrets = Array.from({ length: Math.max(typed.length, sealed.length) }, (_, index) => {
      const [text = '', before = ''] = [typed[index], sealed[index]];
      if (text.trim() !== '') return { text, state: 'typed' };
      const opened = before === '' ? '' : this.open(visitor, form, before);
      return { text: opened, state: opened !== '' ? 'kept' : before !== '' ? 'expired' : '' };
    });
    return {
      ...body,
      [TYPED]: secrets.map(({ text }) => text),
      [SEALED]: secrets.map(({ text }) => (text === '' ? '' : this.seal(visitor, form, text))),
      [STATES]: secrets.map(({ state }) => state),
    };
  }

  private seal({ sessionId }: Visitor, form: string, text: string): string {
    const until = this.clock.now() + LIFETIME_MS;
    return this.key.seal(new Secret(`${until}\n${text}`), placeOf(form, sessionId));
  }

  /** Empty if it has expired, or was sealed for another session or form. */
  private open({ sessionId }: Visitor, form: string, sealed: string): string {
    if (sealed === '') return '';
    try {
      const [, until = '', text = ''] =
        /^(\d+)\n(.*)$/s.exec(this.key.open(sealed, placeOf(form, sessionId)).reveal()) ?? [];
      return Number(until) > this.clock.now() ? text : '';
    } catch {
      return '';
    }
  }
}

/** Sealed secrets of a reopened form, parallel to its typed ones; empty where there is none. */
export const sealedIn = (body: FormBody | undefined): readonly string[] => listOf(body ?? {}, SEALED);

/** Whether a reopened form uses a secret that was typed in an earlier submission. */
export const keepsSecret = (body: FormBody): boolean => listOf(body, STATES).includes('kept');

/** Whether a secret of a reopened form must be typed again. */
export const hasExpiredSecret = (body: FormBody | undefined): boolean => listOf(body ?? {}, STATES).includes('expired');

const placeOf = (form: string, sessionId: string): string => `${form}\n${sessionId}`;

const listOf = (body: FormBody, name: string): readonly string[] => [body[name] ?? []].flat();
