import type { Command } from 'commander';
import { Invitations } from '../../keys/onboarding/index.js';
import { countArgument, timeArgument } from './arguments.js';
import { printJson, printLine, printTable } from './output.js';
import type { WithApp } from './with-app.js';

interface CreateOptions {
  readonly count: number;
  readonly expires?: Date;
  readonly note?: string;
  readonly json?: true;
}

/** `switchboard invitation …` */
export function invitationCommands(program: Command, withApp: WithApp): void {
  const invitation = program.command('invitation').description('single-use invitation codes (SIGN_UP=invite)');
  invitation
    .command('create')
    .description('create codes; prints them once, one per line')
    .option('--count <number>', 'number of codes, max 1000', countArgument, 1)
    .option('--expires <time>', 'expiry, ISO time', timeArgument)
    .option('--note <text>', 'note, shown by "invitation list"')
    .option('--json', 'print JSON')
    .action((options: CreateOptions) => create(options, withApp));
  invitation
    .command('list')
    .description('list invitations, oldest first, without the codes')
    .option('--json', 'print JSON')
    .action((options: { readonly json?: true }) => list(options, withApp));
}

async function create({ count, expires, note, json }: CreateOptions, withApp: WithApp): Promise<void> {
  const codes = await withApp((app) => app.get(Invitations).create({ count, expiresAt: expires, note }));
  if (json) printJson({ codes });
  else for (const code of codes) printLine(code);
}

async function list({ json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const listed = (await withApp((app) => app.get(Invitations).list())).map((invitation) => ({
    id: invitation.id,
    note: invitation.note,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt?.toISOString() ?? null,
    used_at: invitation.usedAt?.toISOString() ?? null,
    used_by: invitation.usedBy,
  }));
  if (json) return printJson({ invitations: listed });
  const cells = listed.map((one) => [
    one.id,
    one.expires_at ?? '-',
    one.used_at ?? '-',
    one.used_by ?? '-',
    one.note || '-',
  ]);
  printTable([['ID', 'EXPIRES', 'USED', 'BY', 'NOTE'], ...cells]);
}
