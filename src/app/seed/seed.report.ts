import { SEED_ACCOUNTS, SEED_PASSWORD, SEED_SECRET, type SeedAccount } from './seed.people.js';
import type { SeedOutcome } from './seed.service.js';

/** Three lines for the terminal: who there is, a key to try, the calls. Passwords and key are known to everybody. */
export function describeSeed(outcome: SeedOutcome): string {
  if (outcome.state === 'withheld') return `No seed data: ${outcome.reason}. Give DATA_DIR a folder of its own.\n\n`;
  const keys = SEED_ACCOUNTS.flatMap((account) => account.keys);
  const owner = SEED_ACCOUNTS.find((account) => account.keys.some(({ secret }) => secret === SEED_SECRET));
  const calls = outcome.state === 'made' ? `${outcome.calls} over the last 30 days` : 'created by an earlier start';
  return `Seed data, for development only:
  Accounts  ${SEED_ACCOUNTS.map(nameOf).join(', ')}; each with the password ${SEED_PASSWORD}
  Keys      ${keys.length}, one of them known: ${SEED_SECRET} (${owner?.email ?? 'nobody'})
  Calls     ${calls}

`;
}

function nameOf({ email, admin, disabled, group }: SeedAccount): string {
  const notes = [admin && 'administrator', disabled && 'disabled', group && `group ${group}`].filter(Boolean);
  return notes.length === 0 ? email : `${email} (${notes.join(', ')})`;
}
