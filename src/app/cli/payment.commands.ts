import type { Command } from 'commander';
import { AppError } from '../../platform/shared/index.js';
import { PaymentProblems, Reconciliation } from '../../wallet/index.js';
import { countArgument } from './arguments.js';
import { printLine, printTable } from './output.js';
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
