import type { Command } from 'commander';
import { AccountService } from '../../auth/index.js';
import { AppError, formatUsd, type Nanos } from '../../platform/shared/index.js';
import {
  LedgerCheck,
  PaymentProblems,
  Reconciliation,
  type RedemptionCode,
  RedemptionService,
  type WalletBalance,
} from '../../wallet/index.js';
import { amountArgument, countArgument, timeArgument } from './arguments.js';
import { printJson, printLine, printTable } from './output.js';
import type { WithApp } from './with-app.js';

interface ReconcileOptions {
  readonly days: number;
  readonly apply?: boolean;
}

/** `switchboard payments …` */
export function paymentCommands(program: Command, withApp: WithApp): void {
  const payments = program.command('payments').description('payments through Stripe');
  payments
    .command('reconcile')
    .description('compare orders, refunds and disputes with Stripe; fails on any difference')
    .option('--days <number>', 'number of days to check', countArgument, 30)
    .option(
      '--apply',
      'import missing entries as if Stripe had sent its events; close unopened orders; record problems',
    )
    .action((options: ReconcileOptions) => reconcile(options, withApp));
  payments
    .command('problems')
    .description('list Stripe events that could not be processed and moved no money')
    .action(() => problems(withApp));
  payments
    .command('resolve <id>')
    .description('mark a problem as resolved')
    .requiredOption('--reason <text>', 'what was done; recorded in the audit log')
    .action((id: string, { reason }: { readonly reason: string }) => resolve(id, reason, withApp));
}

async function reconcile({ days, apply = false }: ReconcileOptions, withApp: WithApp): Promise<void> {
  const left = await withApp(async (app) => {
    let differences = 0;
    for await (const { text, outcome } of app.get(Reconciliation).run(days, apply)) {
      printLine(outcome === 'left' ? text : `${text}: ${outcome}`);
      if (outcome === 'left') differences += 1;
    }
    return differences;
  });
  if (left > 0)
    throw new AppError('conflict', `Stripe and this service differ in ${left === 1 ? '1 entry' : `${left} entries`}.`);
  printLine('payments agree');
}

async function problems(withApp: WithApp): Promise<void> {
  const found = await withApp((app) => app.get(PaymentProblems).unresolved());
  printTable(
    found.map(({ id, foundAt, reference, topUpId, problem }) => [
      id,
      foundAt.toISOString(),
      reference,
      topUpId || '-',
      problem,
    ]),
  );
}

async function resolve(id: string, reason: string, withApp: WithApp): Promise<void> {
  if (!(await withApp((app) => app.get(PaymentProblems).resolve(id, reason))))
    throw new AppError('not_found', `No unresolved problem ${id}. List them with "payments problems".`);
}

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

/** `switchboard ledger …` */
export function ledgerCommands(program: Command, withApp: WithApp): void {
  const ledger = program.command('ledger').description('the double-entry ledger of the wallets');
  ledger
    .command('check')
    .description('recompute every balance, debt, hold and usage total; fails on any difference')
    .option('--json', 'print JSON')
    .action((options: { readonly json?: true }) => check(options, withApp));
}

async function check({ json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const { exact, differences } = await withApp((app) => app.get(LedgerCheck).run());
  if (json) printJson({ exact, differences });
  else for (const line of exact ? ['ledger exact'] : differences) printLine(line);
  if (!exact)
    throw new AppError(
      'internal',
      `The ledger is inconsistent: ${differences.length} figures differ from the entries.`,
    );
}

/** A wallet as `--json` prints it. */
export type WalletJson = {
  readonly balance_usd: string;
  readonly held_usd: string;
  readonly owed_usd: string;
};

/** Zero for an account without a wallet. */
export const walletJson = (wallet: Omit<WalletBalance, 'holds'> | undefined): WalletJson => ({
  balance_usd: formatUsd(wallet?.balance ?? 0n),
  held_usd: formatUsd(wallet?.held ?? 0n),
  owed_usd: formatUsd(wallet?.owed ?? 0n),
});

/** As text; debts are rare and only shown if there is one. */
export function walletText(wallet: WalletBalance): string {
  const owed = wallet.owed > 0n ? `; the account owes $${formatUsd(wallet.owed)}` : '';
  return `balance $${formatUsd(wallet.balance)}, of which $${formatUsd(wallet.held)} on hold${owed}`;
}
