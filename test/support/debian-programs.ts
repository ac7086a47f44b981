// Where the programs are that some tests run beside us: servers, and the tools that check deploy/. Run as a program it
// prints where, or says which is missing and ends with 1.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How each is installed where CI runs: see `.ci/run`. */
const INSTALLATION = {
  'redis-server': 'apt-get install redis-server',
  nginx: 'apt-get install nginx',
  caddy: 'apt-get install caddy',
  promtool: 'apt-get install prometheus',
  'docker-compose': 'apt-get install docker-compose',
  // Debian has neither of these.
  helm: 'https://helm.sh/docs/intro/install',
  'kubernetes-validate': 'pip install kubernetes-validate',
} as const;
type Program = keyof typeof INSTALLATION;

/** Not always in the search path of an ordinary user. */
const USUAL_FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** @throws Error that says what to install: no test is skipped for the lack of a program */
export function findProgram(name: Program): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), ...USUAL_FOLDERS];
  const found = folders.map((folder) => join(folder, name)).find(isProgram);
  if (found === undefined) throw new Error(`These tests need ${name}: install it (${INSTALLATION[name]}).`);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    for (const name of Object.keys(INSTALLATION) as Program[]) process.stdout.write(`${findProgram(name)}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
