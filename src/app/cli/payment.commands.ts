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
  const payments = program.command('payments').description('what users paid through Stripe');
  payments
    .command('reconcile')
    .description('compare orders, refunds and disputes with what Stripe lists; fails when something differs')
    .option('--days <number>', 'how far back', countArgument, 30)
    .option(
      '--apply',
      'enter what Stripe has and is missing here, as its events would; close what was never begun; note what cannot be entered',
    )
    .action((options: ReconcileOptions) => reconcile(options, withApp));
  payments
    .command('problems')
    .description('what Stripe told that could not be entered, and moved no money')
    .action(() => problems(withApp));
  payments
    .command('resolve <id>')
    .description('say that somebody has seen to a problem')
    .requiredOption('--reason <text>', 'what was done; kept in the audit log')
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
    throw new AppError('conflict', `Stripe and this service differ in ${left === 1 ? 'one place' : `${left} places`}.`);
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
    throw new AppError('not_found', `There is no unresolved problem ${id}: "payments problems" lists them.`);
}
