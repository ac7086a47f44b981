import type { Command } from 'commander';
import { type Account, AccountService, AccountStanding } from '../../auth/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { Onboarding } from '../../keys/onboarding/index.js';
import { formatUsd, type Nanos, Secret, ZERO } from '../../platform/shared/index.js';
import { AllowanceService, type WalletBalance, WalletService } from '../../wallet/index.js';
import { accountAllowanceCommand } from './account-allowance.command.js';
import { accountImportCommand } from './account-import.command.js';
import { accountLimitsCommand } from './account-limits.command.js';
import { amountArgument } from './arguments.js';
import { limitsText } from './limit-options.js';
import { printJson, printLine, printTable } from './output.js';
import { secondFactorCommands } from './second-factor.command.js';
import { type WalletJson, walletJson, walletText } from './wallet.output.js';
import type { WithApp } from './with-app.js';

interface CreateOptions {
  readonly email: string;
  readonly name?: string;
  readonly password?: string;
  readonly admin?: true;
  readonly verified?: true;
  readonly credit?: Nanos;
  readonly monthlyAllowance?: Nanos;
  readonly group?: string;
  readonly json?: true;
}

interface CreditOptions {
  readonly email: string;
  readonly amount: Nanos;
  readonly reason: string;
  readonly json?: true;
}

interface StateOptions {
  readonly email: string;
  readonly json?: true;
}

/** `switchboard account …` */
export function accountCommands(program: Command, withApp: WithApp): void {
  const account = program.command('account').description('accounts and what is in their wallets');
  account
    .command('create')
    .description('make an account with its wallet; prints its id, and a generated password once')
    .requiredOption('--email <address>', 'e-mail address of the account')
    .option('--name <name>', 'name')
    .option('--password <password>', '12 to 128 characters; generated when left out')
    .option('--admin', 'an administrator')
    .option('--verified', 'the address needs no proof')
    .option('--credit <usd>', 'what the wallet starts with', amountArgument)
    .option('--monthly-allowance <usd>', 'what it is given each month; the unspent part expires', amountArgument)
    .option('--group <name>', 'group that calls are billed under')
    .option('--json', 'print one JSON object')
    .action((options: CreateOptions) => create(options, withApp));
  account
    .command('credit')
    .description("put money into an account's wallet, or take it out with a negative amount")
    .requiredOption('--email <address>', 'e-mail address of the account')
    .requiredOption('--amount <usd>', 'dollars; negative: a debit of at most what is free', amountArgument)
    .requiredOption('--reason <text>', 'why, for the ledger')
    .option('--json', 'print one JSON object')
    .action((options: CreditOptions) => credit(options, withApp));
  account
    .command('list')
    .description('all accounts, oldest first, deleted ones included')
    .option('--json', 'print one JSON object')
    .action((options: { readonly json?: true }) => list(options, withApp));
  accountAllowanceCommand(account, withApp);
  accountImportCommand(account, withApp);
  accountLimitsCommand(account, withApp);
  secondFactorCommands(account, withApp);
  stateCommand(account, 'disable', 'refuse it and all its keys, and end its sessions and running calls', withApp);
  stateCommand(account, 'enable', 'let it sign in, and accept its keys again', withApp);
}

function stateCommand(account: Command, verb: 'enable' | 'disable', description: string, withApp: WithApp): void {
  account
    .command(verb)
    .description(description)
    .requiredOption('--email <address>', 'e-mail address of the account')
    .option('--json', 'print one JSON object')
    .action(async ({ email, json }: StateOptions) => {
      await withApp(async (app) => {
        const { id } = await app.get(AccountService).get(email);
        await app.get(AccountStanding)[verb](id);
      });
      if (json) printJson({ email, state: `${verb}d` });
      else printLine(`${email} is ${verb}d`);
    });
}

async function create(options: CreateOptions, withApp: WithApp): Promise<void> {
  const { email, name, group: groupName, credit: amount } = options;
  const account = {
    email,
    name,
    password: options.password === undefined ? undefined : new Secret(options.password),
    role: options.admin ? ('admin' as const) : ('user' as const),
    verified: options.verified,
    groupName,
  };
  const opening = amount ? { amount, reason: 'Opening credit by the operator' } : undefined;
  const allowance = options.monthlyAllowance;
  const created = await withApp((app) => app.get(Onboarding).createAccount(account, opening, allowance));
  const password = created.generatedPassword?.reveal();
  if (options.json) return printJson({ id: created.id, email: created.email, password });
  printLine(created.id);
  if (password !== undefined) printLine(`password: ${password}`);
}

async function credit({ email, amount, reason, json }: CreditOptions, withApp: WithApp): Promise<void> {
  const wallet = await withApp(async (app) => {
    const { id } = await app.get(AccountService).get(email);
    return app.get(WalletService).credit(id, amount, reason);
  });
  if (json) printJson(walletJson(wallet));
  else printLine(walletText(wallet));
}

async function list({ json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const listed = await withApp(async (app) => {
    const accounts = await app.get(AccountService).list();
    const wallets = await app.get(WalletService).balancesOf(accounts.map(({ id }) => id));
    const allowances = await app.get(AllowanceService).amountsOf(accounts.map(({ id }) => id));
    return accounts.map((account) => listedAccount(account, wallets.get(account.id), allowances.get(account.id)));
  });
  if (json) return printJson({ accounts: listed });
  const cells = listed.map((entry) => [
    entry.email,
    entry.state,
    `$${entry.balance_usd}`,
    `$${entry.held_usd}`,
    `$${entry.owed_usd}`,
    entry.group ?? '-',
    entry.id,
    limitsText(entry.limits),
    `$${entry.monthly_allowance_usd}`,
  ]);
  printTable([['EMAIL', 'STATE', 'BALANCE', 'ON HOLD', 'OWED', 'GROUP', 'ID', 'LIMITS', 'ALLOWANCE'], ...cells]);
}

interface ListedAccount extends WalletJson {
  readonly id: string;
  readonly email: string;
  readonly state: string;
  readonly group: string | null;
  readonly limits: ReturnType<typeof renderLimits>;
  /** What it is given each month; 0: nothing. */
  readonly monthly_allowance_usd: string;
}

const listedAccount = (
  account: Account,
  wallet: WalletBalance | undefined,
  allowance: Nanos = ZERO,
): ListedAccount => ({
  id: account.id,
  email: account.email,
  state: account.state,
  ...walletJson(wallet),
  group: account.groupName ?? null,
  limits: renderLimits(account.limits),
  monthly_allowance_usd: formatUsd(allowance),
});
