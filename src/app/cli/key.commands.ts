import { type Command, Option } from 'commander';
import type { Readable } from 'node:stream';
import { AccountService } from '../../auth/index.js';
import { ApiKeyService, type NewApiKey, renderBudgets } from '../../keys/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { formatUsd, type Nanos, Secret } from '../../platform/shared/index.js';
import { amountArgument, limitArgument, listArgument, timeArgument } from './arguments.js';
import {
  budgetsText,
  keyTable,
  type LimitOptions,
  limitsChange,
  limitsText,
  listedKey,
  networksText,
  type NewLimitOptions,
  newLimits,
  withLimits,
  withNetworks,
  withNewLimits,
} from './key.output.js';
import { printJson, printLine, printTable } from './output.js';
import type { WithApp } from './with-app.js';

interface KeyOptions extends NewLimitOptions {
  readonly email: string;
  readonly name: string;
  readonly quota?: Nanos;
  readonly daily?: Nanos;
  readonly weekly?: Nanos;
  readonly monthly?: Nanos;
  readonly group?: string;
  readonly models?: readonly string[];
  readonly expires?: Date;
  readonly networks?: readonly string[];
  readonly strict?: true;
  readonly store?: 'never';
  readonly json?: true;
}

interface BudgetOptions {
  readonly id: string;
  readonly daily?: LimitOption;
  readonly weekly?: LimitOption;
  readonly monthly?: LimitOption;
  readonly json?: true;
}

type LimitOption = ReturnType<typeof limitArgument>;

type Verb = 'enable' | 'disable' | 'delete';

/** `switchboard key …` */
export function keyCommands(program: Command, withApp: WithApp): void {
  const key = program.command('key').description('API keys');
  withKeyOptions(key.command('create'))
    .description('create an API key; prints the secret once')
    .action((options: KeyOptions) => create(options, withApp));
  withKeyOptions(key.command('import'))
    .description('import the secret of a key issued by another system; prints the id')
    .requiredOption('--secret-stdin', 'read the secret from stdin')
    .action((options: KeyOptions) => importSecret(options, withApp));
  key
    .command('list')
    .description("list an account's keys, oldest first")
    .requiredOption('--email <address>', 'email address of the account')
    .option('--json', 'print JSON')
    .action((options: { readonly email: string; readonly json?: true }) => list(options, withApp));
  stateCommand(key, 'disable', 'disable a key and end its running calls', withApp);
  stateCommand(key, 'enable', 're-enable a key', withApp);
  stateCommand(key, 'delete', 'delete a key and end its running calls', withApp);
  key
    .command('quota')
    .description('raise the quota of a key, or lower it with a negative amount')
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it')
    .requiredOption('--add <usd>', 'US dollars; cannot go below the amount used and on hold', amountArgument)
    .option('--json', 'print JSON')
    .action((options: { readonly id: string; readonly add: Nanos; readonly json?: true }) =>
      addQuota(options, withApp),
    );
  budgetCommand(key, withApp);
  keyLimitsCommand(key, withApp);
}

function budgetCommand(key: Command, withApp: WithApp): void {
  const command = key.command('budget');
  command
    .description('set the daily, weekly (from Monday) and monthly budgets of a key (UTC); "none" removes a budget')
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it')
    .option('--daily <usd>', 'US dollars, at least the amount used and on hold today, or none', limitArgument)
    .option('--weekly <usd>', 'same for this week', limitArgument)
    .option('--monthly <usd>', 'same for this month', limitArgument)
    .option('--json', 'print JSON')
    .action((options: BudgetOptions) => {
      const { daily, weekly, monthly } = options;
      if ([daily, weekly, monthly].every((limit) => limit === undefined))
        command.error('error: specify at least one of --daily, --weekly and --monthly');
      return setBudgets(options, withApp);
    });
}

const withKeyOptions = (command: Command): Command =>
  withNetworks(withNewLimits(withMoneyOptions(command)))
    .option('--group <name>', "model group that calls are billed under, instead of the account's")
    .option('--models <names>', 'allowed models, separated by commas', listArgument)
    .option('--expires <time>', 'expiry, ISO time', timeArgument)
    .option('--strict', 'reject calls that cannot be translated without warnings')
    .addOption(
      new Option('--store <when>', 'never: reject calls that ask for the response to be stored').choices(['never']),
    )
    .option('--json', 'print JSON');

const withMoneyOptions = (command: Command): Command =>
  command
    .requiredOption('--email <address>', 'email address of the account')
    .requiredOption('--name <name>', 'name of the key')
    .option('--quota <usd>', 'total quota; unlimited by default', amountArgument)
    .option('--daily <usd>', 'daily budget (UTC)', amountArgument)
    .option('--weekly <usd>', 'weekly budget, from Monday (UTC)', amountArgument)
    .option('--monthly <usd>', 'monthly budget (UTC)', amountArgument);

function stateCommand(key: Command, verb: Verb, description: string, withApp: WithApp): void {
  const state = verb === 'delete' ? 'deleted' : `${verb}d`;
  key
    .command(verb)
    .description(description)
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it')
    .option('--json', 'print JSON')
    .action(async ({ id, json }: { readonly id: string; readonly json?: true }) => {
      await withApp((app) => app.get(ApiKeyService)[verb](id));
      if (json) printJson({ id, state });
      else printLine(`${id} is ${state}`);
    });
}

function newKey(options: KeyOptions, accountId: string): NewApiKey {
  const { name, quota, daily, weekly, monthly, group, models, expires, strict = false, store } = options;
  const budgets = { daily, weekly, monthly };
  const neverStores = store === 'never';
  const [limits, networks] = [newLimits(options), options.networks];
  const switches = { strict, neverStores };
  return {
    accountId,
    name,
    quota,
    budgets,
    groupName: group,
    models,
    expiresAt: expires,
    limits,
    networks,
    ...switches,
  };
}

async function create(options: KeyOptions, withApp: WithApp): Promise<void> {
  const { id, secret, hint } = await withApp(async (app) => {
    const account = await app.get(AccountService).get(options.email);
    return app.get(ApiKeyService).create(newKey(options, account.id));
  });
  if (options.json) printJson({ id, secret: secret.reveal(), hint });
  else printLine(secret.reveal());
}

async function importSecret(options: KeyOptions, withApp: WithApp): Promise<void> {
  const secret = await readSecret(process.stdin);
  const { id, hint } = await withApp(async (app) => {
    const account = await app.get(AccountService).get(options.email);
    return app.get(ApiKeyService).import(newKey(options, account.id), secret);
  });
  if (options.json) printJson({ id, hint });
  else printLine(id);
}

async function list(
  { email, json }: { readonly email: string; readonly json?: true },
  withApp: WithApp,
): Promise<void> {
  const keys = await withApp(async (app) => {
    const account = await app.get(AccountService).get(email);
    return app.get(ApiKeyService).list(account.id);
  });
  const listed = keys.map(listedKey);
  if (json) printJson({ keys: listed });
  else printTable(keyTable(listed));
}

async function addQuota(
  { id, add, json }: { readonly id: string; readonly add: Nanos; readonly json?: true },
  withApp: WithApp,
): Promise<void> {
  const quota = formatUsd(await withApp((app) => app.get(ApiKeyService).addQuota(id, add)));
  if (json) printJson({ id, quota_usd: quota });
  else printLine(`quota $${quota}`);
}

async function setBudgets({ id, daily, weekly, monthly, json }: BudgetOptions, withApp: WithApp): Promise<void> {
  const budgets = await withApp(async (app) => {
    await app
      .get(ApiKeyService)
      .setBudgets(id, { daily: limit(daily), weekly: limit(weekly), monthly: limit(monthly) });
    return (await app.get(ApiKeyService).describe(id)).budgets;
  });
  const rendered = renderBudgets(budgets);
  if (json) printJson({ id, budgets: rendered });
  else printLine(`budgets: ${budgetsText(rendered)}`);
}

const limit = (given: LimitOption | undefined): Nanos | null | undefined => (given === 'none' ? null : given);

interface KeyLimitOptions extends LimitOptions {
  readonly id: string;
  readonly networks?: readonly string[];
  readonly json?: true;
}

/** `switchboard key limits …` */
function keyLimitsCommand(key: Command, withApp: WithApp): void {
  const command = key
    .command('limits')
    .description('set the rate limits and allowed networks of a key')
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it');
  withNetworks(withLimits(command))
    .option('--json', 'print JSON')
    .action((options: KeyLimitOptions) => {
      if (limitsChange(options) === undefined && options.networks === undefined)
        command.error('error: specify at least one of --rpm, --tpm, --concurrency, --clear and --networks');
      return setLimits(options, withApp);
    });
}

async function setLimits({ id, networks, json, ...options }: KeyLimitOptions, withApp: WithApp): Promise<void> {
  const set = await withApp((app) => app.get(ApiKeyService).setLimits(id, limitsChange(options) ?? {}, networks));
  if (json) return printJson({ id, limits: renderLimits(set.limits), networks: set.networks ?? [] });
  printLine(`limits: ${limitsText(renderLimits(set.limits))}`);
  printLine(`networks: ${networksText(set.networks ?? [])}`);
}

/** Longer than any valid secret. Longer input is not read to its end. */
const MAX_CHARACTERS = 4096;

/** Reads a secret from a stream, without the line feed that `echo` adds: command lines are visible to other users. */
async function readSecret(input: Readable): Promise<Secret> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_CHARACTERS) break;
  }
  return new Secret(text.replace(/\r?\n$/, ''));
}
