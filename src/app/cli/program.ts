import { Command } from 'commander';
import { accountCommands } from './account.commands.js';
import { backupCommands } from './backup.commands.js';
import { catalogCommands } from './catalog.commands.js';
import { invitationCommands } from './invitation.commands.js';
import { keyCommands } from './key.commands.js';
import { ledgerCommands } from './ledger.commands.js';
import { paymentCommands } from './payment.commands.js';
import { redemptionCommands } from './redemption.commands.js';
import { usageCommands } from './usage.commands.js';
import type { WithApp } from './with-app.js';

/** All commands. Parsing throws a CommanderError instead of ending the process. */
export function buildProgram(withApp: WithApp): Command {
  const program = new Command('switchboard')
    .description('Manages this service from the command line. The service may be running or stopped.')
    .exitOverride()
    .showHelpAfterError('(see --help)');
  accountCommands(program, withApp);
  invitationCommands(program, withApp);
  keyCommands(program, withApp);
  catalogCommands(program, withApp);
  redemptionCommands(program, withApp);
  paymentCommands(program, withApp);
  ledgerCommands(program, withApp);
  usageCommands(program, withApp);
  backupCommands(program);
  return program;
}
