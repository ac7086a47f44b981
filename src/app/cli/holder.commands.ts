import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { OrganizationDirectory } from '../../keys/organizations/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { formatUsd, type Nanos } from '../../platform/shared/index.js';
import { AllowanceService, WalletService } from '../../wallet/index.js';
import { amountArgument } from './arguments.js';
import { type LimitOptions, limitsChange, limitsText, withLimits } from './key.output.js';
import { printJson, printLine } from './output.js';
import { walletJson, walletText } from './wallet.commands.js';
import type { WithApp } from './with-app.js';

/** Who has a wallet and limits: one of them. */
export interface HolderOptions {
  readonly email?: string;
  /** ID or name. */
  readonly organization?: string;
  readonly json?: true;
}

type HolderKind = 'account' | 'organization';

export const withOrganization = (command: Command): Command =>
  command.requiredOption('--organization <id>', 'ID or name of the organization');

const withHolder = (command: Command, kind: HolderKind): Command =>
  kind === 'account'
    ? command.requiredOption('--email <address>', 'email address of the account')
    : withOrganization(command);

/** ID of the account. @throws AccountNotFound, UnknownOrganization, AmbiguousName */
async function holderId(app: INestApplicationContext, { email, organization }: HolderOptions): Promise<string> {
  if (organization !== undefined) return app.get(OrganizationDirectory).named(organization);
  return (await app.get(AccountService).get(email ?? '')).id;
}

/** As `--json` names it. */
const named = ({ email, organization }: HolderOptions) => (organization === undefined ? { email } : { organization });

/** `switchboard account …` and `switchboard organization …`: `credit`, `allowance` and `limits` */
export function holderCommands(parent: Command, kind: HolderKind, withApp: WithApp): void {
  const noun = kind === 'account' ? 'an account' : 'an organization';
  creditCommand(parent, kind, withApp, noun);
  allowanceCommand(parent, kind, withApp, noun);
  limitsCommand(parent, kind, withApp, noun);
}

interface CreditOptions extends HolderOptions {
  readonly amount: Nanos;
  readonly reason: string;
}

function creditCommand(parent: Command, kind: HolderKind, withApp: WithApp, noun: string): void {
  withHolder(parent.command('credit'), kind)
    .description(`credit ${noun}'s wallet, or debit it with a negative amount`)
    .requiredOption(
      '--amount <usd>',
      'US dollars; a negative amount debits, up to the available balance',
      amountArgument,
    )
    .requiredOption('--reason <text>', 'reason, recorded in the ledger')
    .option('--json', 'print JSON')
    .action((options: CreditOptions) => credit(options, withApp));
}

async function credit({ amount, reason, json, ...holder }: CreditOptions, withApp: WithApp): Promise<void> {
  const wallet = await withApp(async (app) =>
    app.get(WalletService).credit(await holderId(app, holder), amount, reason),
  );
  if (json) printJson(walletJson(wallet));
  else printLine(walletText(wallet));
}

interface HolderLimitOptions extends LimitOptions, HolderOptions {}

function limitsCommand(parent: Command, kind: HolderKind, withApp: WithApp, noun: string): void {
  const command = withHolder(parent.command('limits'), kind).description(
    `set the rate limits of ${noun}, shared by all its keys`,
  );
  withLimits(command)
    .option('--json', 'print JSON')
    .action((options: HolderLimitOptions) => {
      if (limitsChange(options) === undefined)
        command.error('error: specify at least one of --rpm, --tpm, --concurrency and --clear');
      return setLimits(options, withApp);
    });
}

async function setLimits({ json, ...options }: HolderLimitOptions, withApp: WithApp): Promise<void> {
  const limits = await withApp(async (app) =>
    app.get(AccountService).setLimits(await holderId(app, options), limitsChange(options) ?? {}),
  );
  if (json) printJson({ ...named(options), limits: renderLimits(limits) });
  else printLine(`limits: ${limitsText(renderLimits(limits))}`);
}

interface AllowanceOptions extends HolderOptions {
  readonly amount: Nanos;
}

function allowanceCommand(parent: Command, kind: HolderKind, withApp: WithApp, noun: string): void {
  withHolder(parent.command('allowance'), kind)
    .description(`set the monthly allowance of ${noun} (UTC); unspent allowance expires`)
    .requiredOption(
      '--amount <usd>',
      'US dollars; a first allowance is granted at once, a changed amount applies from next month, 0 ends it',
      amountArgument,
    )
    .option('--json', 'print JSON')
    .action((options: AllowanceOptions) => setAllowance(options, withApp));
}

async function setAllowance({ amount, json, ...holder }: AllowanceOptions, withApp: WithApp): Promise<void> {
  const wallet = await withApp(async (app) => {
    const id = await holderId(app, holder);
    await app.get(AllowanceService).set(id, amount);
    return app.get(WalletService).balanceOf(id);
  });
  if (json) return printJson({ ...named(holder), monthly_allowance_usd: formatUsd(amount), ...walletJson(wallet) });
  printLine(`monthly allowance: ${amount === 0n ? 'none' : `$${formatUsd(amount)}`}`);
  printLine(walletText(wallet));
}
