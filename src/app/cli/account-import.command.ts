import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { AccountImport, ImportRefused } from '../../keys/onboarding/index.js';
import { AppError, reasonOf } from '../../platform/shared/index.js';
import { printJson, printLine } from './output.js';
import type { WithApp } from './with-app.js';

interface ImportOptions {
  readonly invite?: true;
  readonly json?: true;
}

/** `switchboard account import …` */
export function accountImportCommand(account: Command, withApp: WithApp): void {
  account
    .command('import')
    .description('make the accounts of a file, all of them or none; they choose their passwords by mail')
    .argument('<file>', 'CSV with the columns email, name, group, credit (dollars), monthly_allowance (dollars)')
    .option('--invite', 'mail each of them a link with which they choose a password')
    .option('--json', 'print one JSON object')
    .action((file: string, options: ImportOptions) => importAccounts(file, options, withApp));
}

async function importAccounts(file: string, { invite, json }: ImportOptions, withApp: WithApp): Promise<void> {
  const text = await readText(file);
  const { made, failed } = await withApp(async (app) => {
    const imports = app.get(AccountImport);
    const accounts = await imports.run(text).catch((error: unknown) => Promise.reject(reportFaults(error, file)));
    return { made: accounts, failed: invite ? await imports.invite(accounts) : [] };
  });
  if (json) printJson({ accounts: made, invited: invite ? made.length - failed.length : 0, failed });
  else for (const { id, email } of made) printLine(`${id}  ${email}`);
  for (const { email, reason } of failed) process.stderr.write(`${email} was not invited: ${reason}\n`);
  if (failed.length > 0)
    throw new AppError('upstream_error', `All accounts are made, but ${failed.length} of them could not be invited.`);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid_request', `The file ${file} cannot be read: ${reasonOf(error)}.`);
  }
}

/** Every fault has a line on stderr; what is thrown on is the last line. */
function reportFaults(error: unknown, file: string): unknown {
  if (!(error instanceof ImportRefused) || error.faults.length === 1) return error;
  for (const fault of error.faults) process.stderr.write(`${fault}\n`);
  return new AppError('invalid_request', `${file} has ${error.faults.length} faults; nothing of it was imported.`);
}
