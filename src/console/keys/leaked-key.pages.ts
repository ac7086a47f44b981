import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/shared/index.js';
import { KeyUse, RangeTooLarge, type UseOfModel } from '../../usage/index.js';
import { Form, type FormBody, OnceForms, Page, Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { KeyNotFound, type OwnKey, OwnKeys } from '../../keys/index.js';
import { KeyCreatedPages, shownBefore } from './key-created.pages.js';
import { badgeOf, crumbsTo } from './key-facts.js';
import { NameForm } from './key-form.js';

/** How far back is looked for calls that were somebody else's. */
const LOOKED_AT_DAYS = 30;
const LOOKED_AT_MS = LOOKED_AT_DAYS * 24 * 60 * 60 * 1000;
const MAX_ROWS = 100;
const MAX_NAME = 60;
const MAX_TRIES = 20;

const DISABLE_FIRST = 'Anyone with this key can spend its budget. Disable it first.';
const DISABLED = 'The key is disabled and can no longer be used.';

/** `/keys/:id/leaked`: what to do about a key that somebody else may have, in the order of doing it. */
@Injectable()
export class LeakedKeyPages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly use: KeyUse,
    private readonly once: OnceForms,
    private readonly createdPages: KeyCreatedPages,
    private readonly clock: Clock,
  ) {}

  /** @param made the id of the key that was made in this one's place, as the address says */
  async show(visitor: Visitor, id: string, made?: string): Promise<Page> {
    const key = await this.keys.get({ accountId: visitor.accountId, id });
    const replacement = await this.replacementOf(visitor, key, made);
    const name = replacement === undefined ? await this.freeName(visitor, key.name) : '';
    return this.page(visitor, key, Form.empty<NameForm>({ name }), replacement);
  }

  async disable({ accountId }: Visitor, id: string, made?: string): Promise<Redirect> {
    const key = await this.keys.get({ accountId, id });
    await this.keys.disable({ accountId, id });
    const place = isText(made) ? `?made=${encodeURIComponent(made)}` : '';
    return new Redirect(`/keys/${id}/leaked${place}`, {
      tone: 'ok',
      title: `Key “${key.name}” is disabled`,
      text: 'It can no longer be used.',
    });
  }

  /** Makes a key of the same settings; the one that it replaces stays as it is. */
  async replace(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const key = await this.keys.get({ accountId: visitor.accountId, id });
    const form = Form.read(NameForm, body);
    const result = await this.once.run(
      visitor.accountId,
      body,
      () => form.attempt(({ name }) => this.keys.createLike(visitor.accountId, key, name, this.clock.date())),
      (made) => `/keys/${made.id}/edit`,
    );
    if (result === undefined) return this.page(visitor, key, form);
    if (result.made === undefined) return shownBefore(result.location);
    return this.createdPages.created(visitor, result.made, { id, name: key.name });
  }

  /** Undefined when there is none, whatever the address says: a key made before cannot take this one's place. */
  private async replacementOf({ accountId }: Visitor, key: OwnKey, made: unknown): Promise<OwnKey | undefined> {
    if (!isText(made)) return undefined;
    try {
      const found = await this.keys.get({ accountId, id: made });
      return found.id > key.id && found.state !== 'deleted' ? found : undefined;
    } catch (error) {
      if (error instanceof KeyNotFound) return undefined;
      throw error;
    }
  }

  /** The next name that no other key of the account has. */
  private async freeName({ accountId }: Visitor, name: string): Promise<string> {
    let free = successorOf(name);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { keys } = await this.keys.page(accountId, { text: free });
      if (!keys.some((key) => key.name === free)) return free;
      free = successorOf(free);
    }
    return free;
  }

  private async page({ accountId }: Visitor, key: OwnKey, form: Form<NameForm>, replacement?: OwnKey): Promise<Page> {
    const rows = await this.callsOf(accountId, key.id);
    return new Page('keys/leaked', {
      title: `Key “${key.name}” may have leaked`,
      width: 'narrow',
      data: {
        key: { id: key.id, name: key.name, hint: key.hint },
        badge: badgeOf(key),
        enabled: key.state === 'enabled',
        lede: key.state === 'enabled' ? DISABLE_FIRST : DISABLED,
        replacement: replacement && { id: replacement.id, name: replacement.name },
        form,
        rows,
        crumbs: crumbsTo('Leaked', key),
        days: LOOKED_AT_DAYS,
        most: rows?.length === MAX_ROWS ? MAX_ROWS : undefined,
        tooMany: rows === undefined,
      },
    });
  }

  /** Undefined when there are too many to be read in time: a leaked key must be disabled all the same. */
  private async callsOf(accountId: string, id: string): Promise<readonly UseOfModel[] | undefined> {
    try {
      const now = this.clock.now();
      return await this.use.byAddress(
        { accountId, id },
        { from: new Date(now - LOOKED_AT_MS), to: new Date(now + 1000) },
        MAX_ROWS,
      );
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

/** A query's parameter may be there twice. */
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A name that tells the two apart in the log: `laptop 2` after `laptop`. */
function successorOf(name: string): string {
  const [, base = name, number = '1'] = /^(.*?)(?: (\d{1,4}))?$/su.exec(name) ?? [];
  const suffix = ` ${Number(number) + 1}`;
  return `${[...base].slice(0, MAX_NAME - suffix.length).join('')}${suffix}`;
}
