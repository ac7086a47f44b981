import { Controller, Get, Injectable, Query } from '@nestjs/common';
import { IsIn, IsNotEmpty, IsString } from 'class-validator';
import { type Account, AccountNotFound, AccountService, InvalidAccount, type Visitor } from '../../../auth/index.js';
import { type Catalog, CatalogService } from '../../../catalog/index.js';
import { KeyNotFound, type OwnKey, OwnKeys } from '../../../keys/index.js';
import { EFFORTS, type ProtocolAdapter } from '../../../protocols/contract/index.js';
import { AdapterRegistry, DryRun } from '../../../relay/index.js';
import { Administrator } from '../../access/index.js';
import {
  countOf,
  CurrentVisitor,
  Form,
  type FormBody,
  IsCount,
  Page,
  protocolNames,
  Trimmed,
} from '../../web/index.js';
import { routingResult } from './routing-view.js';

/** A valid dry run form with its account and key. */
interface ValidDryRun {
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
    this.checkProtocol(form);
    const value = form.value;
    const result = account && value && (await this.evaluate({ form, account, key }, value, visitor));
    const offered = account === undefined ? [] : (await this.keys.page({ accountId: account.id }, {})).keys;
    const choices = routingChoices(this.catalog.current(), this.adapters.clientAdapters, offered, key);
    const data = { form, ...choices, result };
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

  private checkProtocol(form: TypedRouting): void {
    const { protocol } = form.values;
    if (protocol !== undefined && !this.adapters.clientAdapters.some(({ id }) => id === protocol))
      form.refuse('protocol', 'Choose the client protocol.');
  }

  private async evaluate({ account, key }: ValidDryRun, value: RoutingForm, { timeZone }: Visitor) {
    const question = {
      who: key === undefined ? { newKeyOf: account.id } : { keyId: key.id },
      model: value.model,
      protocol: value.protocol,
      stream: value.stream !== '',
      effort: value.effort || undefined,
      promptTokens: promptTokensOf(value),
      outputLimit: countOf(value.output),
    };
    const dryRun = await this.dryRun.of(question);
    return dryRun && routingResult({ question, dryRun, account, key, timeZone });
  }
}

/** Read-only: the form is submitted in the query string. */
@Administrator()
@Controller('admin/routing')
export class RoutingController {
  constructor(private readonly pages: RoutingPages) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Query() parts: Readonly<Record<string, unknown>>): Promise<Page> {
    return this.pages.show(visitor, parts);
  }
}

const MAX_TOKENS = 100_000_000;

const Tokens = (message: string): PropertyDecorator => IsCount({ message, min: 1, max: MAX_TOKENS });

/** The simulated call, as typed; no field is ever undefined. */
class RoutingForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter the user’s email address.' })
  readonly user: string = '';

  /** The id of one of the user’s keys; empty: a new one. */
  @IsString({ message: 'Choose an API key.' })
  readonly key: string = '';

  @IsNotEmpty({ message: 'Choose a model.' })
  readonly model: string = '';

  @IsNotEmpty({ message: 'Choose the client protocol.' })
  readonly protocol: string = '';

  /** Empty: not set. */
  @IsString({ message: 'Choose an effort.' })
  readonly effort: string = '';

  @Tokens('Enter a whole number of tokens, or leave empty for 1,000.')
  readonly prompt: string = '';

  @Tokens('Enter a whole number of tokens, or leave empty if the client sets no limit.')
  readonly output: string = '';

  @IsIn(['yes', ''], { message: 'Select or clear the checkbox.' })
  readonly stream: string = '';
}

/** Used if the field is empty. */
const DEFAULT_PROMPT_TOKENS = 1000;

const promptTokensOf = ({ prompt }: RoutingForm): number => countOf(prompt) ?? DEFAULT_PROMPT_TOKENS;

/** The form fields in a query string; others and repeated ones are ignored. */
const typedIn = (parts: Readonly<Record<string, unknown>>): FormBody =>
  Object.fromEntries(
    Object.keys(new RoutingForm()).flatMap((name) => {
      const value = parts[name];
      return typeof value === 'string' ? [[name, value.replaceAll('\0', '')]] : [];
    }),
  );

type TypedRouting = Form<RoutingForm>;

interface SelectOption {
  readonly value: string;
  readonly label: string;
}

/** Options of the dry run form. */
const routingChoices = (
  { models }: Pick<Catalog, 'models'>,
  protocols: readonly Pick<ProtocolAdapter, 'id'>[],
  keys: readonly OwnKey[],
  chosen: OwnKey | undefined,
): Readonly<Record<'keys' | 'models' | 'protocols' | 'efforts', readonly SelectOption[]>> => ({
  keys: [{ value: '', label: 'A new API key with default settings' }, ...withChosen(keys, chosen).map(keyChoice)],
  models: [...models.values()]
    .toSorted((one, other) => one.name.localeCompare(other.name))
    .map(({ name, enabled }) => ({ value: name, label: enabled ? name : `${name} (disabled)` })),
  protocols: protocols
    .toSorted((one, other) => protocolNames(one.id).place - protocolNames(other.id).place)
    .map(({ id }) => ({ value: id, label: protocolNames(id).fullName })),
  efforts: [{ value: '', label: 'Not set' }, ...EFFORTS.map((effort) => ({ value: effort, label: effort }))],
});

/** Includes the selected key if it is not on the listed page. */
const withChosen = (keys: readonly OwnKey[], chosen: OwnKey | undefined): readonly OwnKey[] =>
  chosen === undefined || keys.some(({ id }) => id === chosen.id) ? keys : [chosen, ...keys];

const keyChoice = ({ id, name, hint, state }: OwnKey): SelectOption => ({
  value: id,
  label: `${name}, ${hint}${state === 'enabled' ? '' : ` (${state})`}`,
});
