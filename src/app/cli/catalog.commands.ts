import { type Command } from 'commander';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { CatalogExport, CatalogImport, InvalidCatalog } from '../../catalog/channels/index.js';
import { AdapterRegistry, ChannelProbe, type ProbeResult } from '../../relay/index.js';
import { AppError } from '../../platform/shared/index.js';
import { printJson, printLine } from './output.js';
import type { WithApp } from './with-app.js';

interface ApplyOptions {
  readonly prune?: true;
  readonly check?: true;
  readonly json?: true;
}

interface ExportOptions {
  readonly secretsTo?: string;
}

/** `switchboard catalog …` */
export function catalogCommands(program: Command, withApp: WithApp): void {
  const catalog = program.command('catalog').description('manage groups, models, prices and channels as a file');
  catalog
    .command('apply')
    .description('apply a catalog file (atomic)')
    .argument('<file>', 'YAML file; see examples/')
    .option('--prune', 'disable entries that the file does not contain')
    .option('--check', 'afterwards, send a minimal call to each channel and print the result')
    .option('--json', 'print JSON')
    .action((file: string, options: ApplyOptions) => apply(file, options, withApp));
  catalog
    .command('export')
    .description('print the current catalog as a file')
    .option('--secrets-to <file>', 'write the catalog, including stored secrets, to a file (mode 0600)')
    .action((options: ExportOptions) => exportCatalog(options, withApp));
}

async function apply(file: string, { prune, check, json }: ApplyOptions, withApp: WithApp): Promise<void> {
  const text = await readText(file);
  await withApp(async (app) => {
    const protocols = app.get(AdapterRegistry).defaultAuth;
    const changes = await app
      .get(CatalogImport)
      .apply(text, { fileName: file, prune: prune === true, protocols })
      .catch((error: unknown) => Promise.reject(reportErrors(error, file)));
    if (!json) for (const line of changes.length > 0 ? changes : ['nothing changed']) printLine(line);
    const channels = check ? await checkChannels(app.get(ChannelProbe), json === true) : undefined;
    if (json) printJson({ changes, ...(channels && { channels }) });
    const silent = channels?.filter(({ answered }) => !answered).length ?? 0;
    if (silent > 0)
      throw new AppError(
        'upstream_error',
        `The catalog was applied, but the check of ${silent} of its channels failed.`,
      );
  });
}

/** Prints a line for each channel as soon as its check ends, unless `quiet`. */
async function checkChannels(probe: ChannelProbe, quiet: boolean): Promise<readonly ProbeResult[]> {
  const results: ProbeResult[] = [];
  for await (const result of probe.all()) {
    results.push(result);
    const { channel, model, answered, message, durationMs } = result;
    if (!quiet)
      printLine(`channel ${channel} (${model}) ${answered ? 'responded' : 'failed'} in ${durationMs} ms: ${message}`);
  }
  return results;
}

async function exportCatalog({ secretsTo }: ExportOptions, withApp: WithApp): Promise<void> {
  const [text, secrets] = await withApp(async (app) => {
    const exported = await app.get(CatalogExport).export();
    return [exported.text, secretsTo === undefined ? '' : exported.withSecrets()];
  });
  if (secretsTo !== undefined) await writeSecrets(secretsTo, secrets);
  process.stdout.write(text);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new AppError('invalid_request', `Cannot read ${file}: ${(error as Error).message}.`);
  }
}

/** Prints each of several errors on its own line; the returned error becomes the last line. */
function reportErrors(error: unknown, file: string): unknown {
  if (!(error instanceof InvalidCatalog) || error.errors.length === 1) return error;
  for (const line of error.errors) process.stderr.write(`${line}\n`);
  return new AppError('invalid_request', `${file} has ${error.errors.length} errors; nothing was applied.`);
}

/** Replaces the file atomically, with mode 0600 from the start. */
async function writeSecrets(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new AppError('invalid_request', `Cannot write secrets to ${file}: ${(error as Error).message}.`);
  }
}
