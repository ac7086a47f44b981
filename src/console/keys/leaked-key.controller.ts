import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { changedKeys, type Visitor } from '../../auth/index.js';
import { KeyNotFound, MAX_KEY_NAME, type OwnKey, OwnKeys } from '../../keys/index.js';
import { Clock } from '../../platform/shared/index.js';
import { KeyUse } from '../../usage/index.js';
import { Allows, SignedIn } from '../access/index.js';
import { undefinedIfTooLarge } from '../usage/index.js';
import { CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { NameForm } from './key-form.js';
import { alreadyCreated, badgeOf, createdPage, crumbsTo } from './key.view.js';

const SHOWN_DAYS = 30;
const SHOWN_MS = SHOWN_DAYS * 24 * 60 * 60 * 1000;
const MAX_ROWS = 100;
const MAX_TRIES = 20;

const DISABLE_FIRST = 'Anyone with this key can spend your balance. Disable it first.';
const DISABLED = 'The key is disabled and can no longer be used.';

/** Steps for a leaked key: disable it, replace it, review its calls. */
@Controller('keys/:id')
@SignedIn()
@Allows('use keys')
export class LeakedKeyController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly use: KeyUse,
    private readonly once: IdempotentForms,
    private readonly choices: KeyChoices,
    private readonly clock: Clock,
  ) {}

  /** @param made ID of the key that replaces this one */
  @Get('leaked')
  async show(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Query('made') made?: unknown,
  ): Promise<Page> {
    const key = await this.keys.get({ ...changedKeys(visitor), id });
    const replacement = await this.replacementOf(visitor, key, made);
    const name = replacement === undefined ? await this.freeName(visitor, key.name) : '';
    return this.page(visitor, key, Form.empty<NameForm>({ name }), replacement);
  }

  @Post('leaked')
  async disable(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Query('made') made?: unknown,
  ): Promise<Redirect> {
    const own = { ...changedKeys(visitor), id };
    const key = await this.keys.get(own);
    await this.keys.disable(own);
    const place = isText(made) ? `?made=${encodeURIComponent(made)}` : '';
    return new Redirect(`/keys/${id}/leaked${place}`, {
      tone: 'ok',
      title: `Key “${key.name}” is disabled`,
      text: 'It can no longer be used.',
    });
  }

  /** Creates a key with the same settings; the replaced key does not change. */
  @Post('replace')
  async replace(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const { accountId, scopeId, timeZone } = visitor;
    const owner = changedKeys(visitor);
    const key = await this.keys.get({ ...owner, id });
    const now = this.clock.date();
    const form = Form.read(NameForm, body);
    const result = await this.once.run(
      accountId,
      body,
      () => form.attempt(({ name }) => this.keys.createLike(scopeId, key, name, now)),
      (made) => `/keys/${made.id}/edit`,
    );
    if (result === undefined) return this.page(visitor, key, form);
    if (result.made === undefined) return alreadyCreated(result.location);
    const replacement = await this.keys.get({ ...owner, id: result.made.id });
    return createdPage(replacement, result.made.secret, this.choices, {
      timeZone,
      now,
      replaced: { id, name: key.name },
    });
  }

  /** Only a key created later can be a replacement. */
  private async replacementOf(visitor: Visitor, key: OwnKey, made: unknown): Promise<OwnKey | undefined> {
    if (!isText(made)) return undefined;
    try {
      const found = await this.keys.get({ ...changedKeys(visitor), id: made });
      return found.id > key.id && found.state !== 'deleted' ? found : undefined;
    } catch (error) {
      if (error instanceof KeyNotFound) return undefined;
      throw error;
    }
  }

  private async freeName(visitor: Visitor, name: string): Promise<string> {
    let free = successorOf(name);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { keys } = await this.keys.page(changedKeys(visitor), { text: free });
      if (!keys.some((key) => key.name === free)) return free;
      free = successorOf(free);
    }
    return free;
  }

  private async page(visitor: Visitor, key: OwnKey, form: Form<NameForm>, replacement?: OwnKey): Promise<Page> {
    const owner = changedKeys(visitor);
    const now = this.clock.now();
    const span = { from: new Date(now - SHOWN_MS), to: new Date(now + 1000) };
    const rows = await undefinedIfTooLarge(this.use.byAddress({ ...owner, id: key.id }, span, MAX_ROWS));
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
        days: SHOWN_DAYS,
        maxRows: rows?.length === MAX_ROWS ? MAX_ROWS : undefined,
        tooMany: rows === undefined,
      },
    });
  }
}

/** A query parameter may be repeated. */
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** `laptop 2` after `laptop`. */
function successorOf(name: string): string {
  const [, base = name, number = '1'] = /^(.*?)(?: (\d{1,4}))?$/su.exec(name) ?? [];
  const suffix = ` ${Number(number) + 1}`;
  return `${[...base].slice(0, MAX_KEY_NAME - suffix.length).join('')}${suffix}`;
}
