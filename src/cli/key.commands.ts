import type { Command } from 'commander';
import { AccountService } from '../auth/index.js';
import { type ApiKey, ApiKeyService, type NewApiKey } from '../keys/index.js';
import { formatUsd, type Nanos } from '../shared/index.js';
import { amountArgument, listArgument, timeArgument } from './arguments.js';
import { printJson, printLine, printTable } from './output.js';
import { readSecret } from './secret-input.js';
import type { WithApp } from './with-app.js';

interface KeyOptions {
  readonly email: string;
  readonly name: string;
  readonly quota?: Nanos;
  readonly group?: string;
  readonly models?: readonly string[];
  readonly expires?: Date;
  readonly json?: true;
}

type Verb = 'enable' | 'disable' | 'delete';

/** `switchboard key …` */
export function keyCommands(program: Command, withApp: WithApp): void {
  const key = program.command('key').description('API keys');
  withKeyOptions(key.command('create'))
    .description('make a key; prints its secret, once')
    .action((options: KeyOptions) => create(options, withApp));
  withKeyOptions(key.command('import'))
    .description('take over the secret of a key that another system issued; prints the id')
    .requiredOption('--secret-stdin', 'read the secret from stdin')
    .action((options: KeyOptions) => importSecret(options, withApp));
  key
    .command('list')
    .description("an account's keys, oldest first")
    .requiredOption('--email <address>', 'e-mail address of the account')
    .option('--json', 'print one JSON object')
    .action((options: { readonly email: string; readonly json?: true }) => list(options, withApp));
  stateCommand(key, 'disable', 'refuse it from now on', withApp);
  stateCommand(key, 'enable', 'accept it again', withApp);
  stateCommand(key, 'delete', 'refuse it for good', withApp);
  key
    .command('quota')
    .description('raise what a key may spend, or lower it with a negative amount')
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it')
    .requiredOption('--add <usd>', 'dollars; negative: no further down than what is used and on hold', amountArgument)
    .option('--json', 'print one JSON object')
    .action((options: { readonly id: string; readonly add: Nanos; readonly json?: true }) =>
      addQuota(options, withApp),
    );
}

const withKeyOptions = (command: Command): Command =>
  command
    .requiredOption('--email <address>', 'e-mail address of the account')
    .requiredOption('--name <name>', 'what it is called')
    .option('--quota <usd>', 'the most it may spend in all; unlimited when left out', amountArgument)
    .option('--group <name>', "group that its calls are billed under, in place of the account's")
    .option('--models <names>', 'the only models it may use, separated by commas', listArgument)
    .option('--expires <time>', 'ISO time from which on it is refused', timeArgument)
    .option('--json', 'print one JSON object');

function stateCommand(key: Command, verb: Verb, description: string, withApp: WithApp): void {
  const state = verb === 'delete' ? 'deleted' : `${verb}d`;
  key
    .command(verb)
    .description(description)
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it')
    .option('--json', 'print one JSON object')
    .action(async ({ id, json }: { readonly id: string; readonly json?: true }) => {
      await withApp((app) => app.get(ApiKeyService)[verb](id));
      if (json) printJson({ id, state });
      else printLine(`${id} is ${state}`);
    });
}

function newKey({ name, quota, group, models, expires }: KeyOptions, accountId: string): NewApiKey {
  return { accountId, name, quota, groupName: group, models, expiresAt: expires };
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
  if (json) return printJson({ keys: listed });
  const cells = listed.map((key) => [
    key.hint,
    key.name,
    key.state,
    dollars(key.quota_usd),
    dollars(key.used_usd),
    dollars(key.held_usd),
    key.group ?? '-',
    key.expires_at ?? '-',
    key.id,
  ]);
  printTable([['KEY', 'NAME', 'STATE', 'QUOTA', 'USED', 'ON HOLD', 'GROUP', 'EXPIRES', 'ID'], ...cells]);
}

async function addQuota(
  { id, add, json }: { readonly id: string; readonly add: Nanos; readonly json?: true },
  withApp: WithApp,
): Promise<void> {
  const quota = formatUsd(await withApp((app) => app.get(ApiKeyService).addQuota(id, add)));
  if (json) printJson({ id, quota_usd: quota });
  else printLine(`quota $${quota}`);
}

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly hint: string;
  readonly quota_usd: string | null;
  readonly used_usd: string;
  readonly held_usd: string;
  readonly group: string | null;
  readonly expires_at: string | null;
}

const listedKey = (key: ApiKey): ListedKey => ({
  id: key.id,
  name: key.name,
  state: key.state,
  hint: key.hint,
  quota_usd: key.quota === undefined ? null : formatUsd(key.quota),
  used_usd: formatUsd(key.used),
  held_usd: formatUsd(key.held),
  group: key.groupName ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
});

const dollars = (amount: string | null): string => (amount === null ? 'unlimited' : `$${amount}`);
