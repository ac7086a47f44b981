import { Injectable } from '@nestjs/common';
import { type Account, AccountNotFound, AccountService, InvalidAccount, type Visitor } from '../../../auth/index.js';
import { CatalogService } from '../../../catalog/index.js';
import { KeyNotFound, type OwnKey, OwnKeys } from '../../../keys/index.js';
import { AdapterRegistry, DryRun } from '../../../relay/index.js';
import { countOf, Form, Page } from '../../web/index.js';
import { routingResult } from './routing-view.js';
import { routingChoices } from './routing-choices.js';
import { promptTokensOf, RoutingForm, type TypedRouting, typedIn } from './routing-form.js';

/** A valid dry run form with its account and key. */
interface Asked {
  readonly form: TypedRouting;
  readonly account: Account;
  /** Undefined: a new key. */
  readonly key: OwnKey | undefined;
}

/** `/admin/routing`: simulates the routing of a call. */
@Injectable()
export class RoutingPages {
  constructor(
    private readonly accounts: AccountService,
    private readonly keys: OwnKeys,
    private readonly dryRun: DryRun,
    private readonly catalog: CatalogService,
    private readonly adapters: AdapterRegistry,
  ) {}

  /** @param parts the query string: all, some or no form fields */
  async show(visitor: Visitor, parts: Readonly<Record<string, unknown>>): Promise<Page> {
    const typed = typedIn(parts);
    // Links from user and channel pages prefill the form without submitting it.
    const isAsked = 'protocol' in typed;
    const form = isAsked ? Form.read(RoutingForm, typed) : Form.empty<RoutingForm>(typed);
    const account = await this.accountOf(form, isAsked);
    const key = account && (await this.keyOf(form, account));
    this.checkDialect(form);
    const value = form.value;
    const answer = account && value && (await this.answer({ form, account, key }, value, visitor));
    const offered = account === undefined ? [] : (await this.keys.page(account.id, {})).keys;
    const choices = routingChoices(this.catalog.current(), this.adapters.dialects, offered, key);
    const data = { form, ...choices, answer };
    return new Page('admin/routing', {
      title: 'Routing dry run',
      data,
      ...(form.refused && { status: 422, failed: true }),
    });
  }

  private async accountOf(form: TypedRouting, isAsked: boolean): Promise<Account | undefined> {
    const { user } = form.values;
    if (typeof user !== 'string' || user.trim() === '') return undefined;
    try {
      return await this.accounts.get(user);
    } catch (error) {
      if (!(error instanceof AccountNotFound) && !(error instanceof InvalidAccount)) throw error;
      if (isAsked) form.refuse('user', 'Enter the email address of an existing user.');
      return undefined;
    }
  }

  private async keyOf(form: TypedRouting, { id: accountId }: Account): Promise<OwnKey | undefined> {
    const { key } = form.values;
    if (typeof key !== 'string' || key === '') return undefined;
    try {
      return await this.keys.get({ accountId, id: key });
    } catch (error) {
      if (!(error instanceof KeyNotFound)) throw error;
      form.refuse('key', 'Choose one of this user’s API keys.');
      return undefined;
    }
  }

  private checkDialect(form: TypedRouting): void {
    const { protocol } = form.values;
    if (protocol !== undefined && !this.adapters.dialects.some(({ id }) => id === protocol))
      form.refuse('protocol', 'Choose the client protocol.');
  }

  private async answer({ account, key }: Asked, value: RoutingForm, { timeZone }: Visitor) {
    const question = {
      who: key === undefined ? { newKeyOf: account.id } : { keyId: key.id },
      model: value.model,
      protocol: value.protocol,
      stream: value.stream !== '',
      effort: value.effort || undefined,
      promptTokens: promptTokensOf(value),
      outputLimit: countOf(value.output),
    };
    const answer = await this.dryRun.of(question);
    return answer && routingResult({ question, answer, account, key, timeZone });
  }
}
