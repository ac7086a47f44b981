import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { formatUsd, type Nanos } from '../../platform/shared/index.js';
import { type RedemptionCode, RedemptionService } from '../../wallet/index.js';
import { amountArgument, countArgument, timeArgument } from './arguments.js';
import { printJson, printLine, printTable } from './output.js';
import { walletJson, walletText } from './wallet.output.js';
import type { WithApp } from './with-app.js';

interface CreateOptions {
  readonly amount: Nanos;
  readonly count: number;
  readonly expires?: Date;
  readonly note?: string;
  readonly json?: true;
}

interface RedeemOptions {
  readonly email: string;
  readonly code: string;
  readonly json?: true;
}

/** `switchboard redemption …` */
export function redemptionCommands(program: Command, withApp: WithApp): void {
  const redemption = program.command('redemption').description('single-use redemption codes');
  redemption
    .command('create')
    .description('create codes; prints them once, one per line')
    .requiredOption('--amount <usd>', 'value of each code in US dollars', amountArgument)
    .requiredOption('--count <number>', 'number of codes, max 1000', countArgument)
    .option('--expires <time>', 'expiry, ISO time', timeArgument)
    .option('--note <text>', 'note, shown by "redemption list"')
    .option('--json', 'print JSON')
    .action((options: CreateOptions) => create(options, withApp));
  redemption
    .command('list')
    .description('list codes, oldest first, without the secret part')
    .option('--json', 'print JSON')
    .action((options: { readonly json?: true }) => list(options, withApp));
  redemption
    .command('redeem')
    .description('redeem a code for an account')
    .requiredOption('--email <address>', 'email address of the account')
    .requiredOption('--code <code>', 'code; case and dashes are ignored')
    .option('--json', 'print JSON')
    .action((options: RedeemOptions) => redeem(options, withApp));
}

async function create({ amount, count, expires, note, json }: CreateOptions, withApp: WithApp): Promise<void> {
  const batch = { amount, count, expiresAt: expires, note };
  const { codes } = await withApp((app) => app.get(RedemptionService).create(batch));
  if (json) printJson({ codes });
  else for (const code of codes) printLine(code);
}

async function list({ json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const listed = (await withApp((app) => app.get(RedemptionService).list())).map(listedCode);
  if (json) return printJson({ codes: listed });
  const cells = listed.map((code) => [
    code.id,
    `$${code.amount_usd}`,
    code.state,
    code.expires_at ?? '-',
    code.redeemed_at ?? '-',
    code.redeemed_by ?? '-',
    code.note || '-',
  ]);
  printTable([['ID', 'AMOUNT', 'STATE', 'EXPIRES', 'REDEEMED', 'BY', 'NOTE'], ...cells]);
}

async function redeem({ email, code, json }: RedeemOptions, withApp: WithApp): Promise<void> {
  const { amount, wallet } = await withApp(async (app) => {
    const { id } = await app.get(AccountService).get(email);
    return app.get(RedemptionService).redeem(id, code);
  });
  if (json) printJson({ amount_usd: formatUsd(amount), ...walletJson(wallet) });
  else printLine(`redeemed $${formatUsd(amount)}; ${walletText(wallet)}`);
}

interface ListedCodeJson {
  readonly id: string;
  readonly amount_usd: string;
  readonly state: string;
  readonly note: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly redeemed_at: string | null;
  readonly redeemed_by: string | null;
}

const listedCode = (code: RedemptionCode): ListedCodeJson => ({
  id: code.id,
  amount_usd: formatUsd(code.amount),
  state: code.state,
  note: code.note,
  created_at: code.createdAt.toISOString(),
  expires_at: code.expiresAt?.toISOString() ?? null,
  redeemed_at: code.redeemedAt?.toISOString() ?? null,
  redeemed_by: code.redeemedBy,
});
