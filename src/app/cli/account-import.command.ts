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
    .description('import accounts from a CSV file (atomic); users set their passwords by email')
    .argument('<file>', 'CSV with the columns email, name, group, credit (dollars), monthly_allowance (dollars)')
    .option('--invite', 'email each user a link to set a password')
    .option('--json', 'print JSON')
    .action((file: string, options: ImportOptions) => importAccounts(file, options, withApp));
}

async function importAccounts(file: string, { invite, json }: ImportOptions, withApp: WithApp): Promise<void> {
  const text = await readText(file);
  const { made, failed } = await withApp(async (app) => {
    const imports = app.get(AccountImport);
    const accounts = await imports.run(text).catch((error: unknown) => Promise.reject(reportErrors(error, file)));
    return { made: accounts, failed: invite ? await imports.invite(accounts) : [] };
  });
  if (json) printJson({ accounts: made, invited: invite ? made.length - failed.length : 0, failed });
  else for (const { id, email } of made) printLine(`${id}  ${email}`);
  for (const { email, reason } of failed) process.stderr.write(`${email} could not be invited: ${reason}\n`);
  if (failed.length > 0)
    throw new AppError('upstream_error', `All accounts were created, but ${failed.length} could not be invited.`);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid_request', `Cannot read ${file}: ${reasonOf(error)}.`);
  }
}

/** Prints each of several errors on its own line; the returned error becomes the last line. */
function reportErrors(error: unknown, file: string): unknown {
  if (!(error instanceof ImportRefused) || error.faults.length === 1) return error;
  for (const fault of error.faults) process.stderr.write(`${fault}\n`);
  return new AppError('invalid_request', `${file} has ${error.faults.length} errors; nothing was imported.`);
}
