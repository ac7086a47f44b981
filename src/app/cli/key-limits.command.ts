import type { Command } from 'commander';
import { ApiKeyService } from '../../keys/index.js';
import { renderLimits } from '../../platform/limits/index.js';
import { networksText } from './key.output.js';
import { type LimitOptions, limitsChange, limitsText, withLimits, withNetworks } from './limit-options.js';
import { printJson, printLine } from './output.js';
import type { WithApp } from './with-app.js';

interface KeyLimitOptions extends LimitOptions {
  readonly id: string;
  readonly networks?: readonly string[];
  readonly json?: true;
}

/** `switchboard key limits …` */
export function keyLimitsCommand(key: Command, withApp: WithApp): void {
  const command = key
    .command('limits')
    .description('set the rate limits and allowed networks of a key')
    .requiredOption('--id <id>', 'the key\'s id, as "key list" shows it');
  withNetworks(withLimits(command))
    .option('--json', 'print JSON')
    .action((options: KeyLimitOptions) => {
      if (limitsChange(options) === undefined && options.networks === undefined)
        command.error('error: specify at least one of --rpm, --tpm, --concurrency, --clear and --networks');
      return setLimits(options, withApp);
    });
}

async function setLimits({ id, networks, json, ...options }: KeyLimitOptions, withApp: WithApp): Promise<void> {
  const set = await withApp((app) => app.get(ApiKeyService).setLimits(id, limitsChange(options) ?? {}, networks));
  if (json) return printJson({ id, limits: renderLimits(set.limits), networks: set.networks ?? [] });
  printLine(`limits: ${limitsText(renderLimits(set.limits))}`);
  printLine(`networks: ${networksText(set.networks ?? [])}`);
}
