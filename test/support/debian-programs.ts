// Where the servers are that some tests run beside us: Redis and nginx, as Debian packages them. Run as a program it
// prints where, or says which is missing and ends with 1.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PACKAGES = {
  'redis-server': 'redis-server',
  nginx: 'nginx',
  caddy: 'caddy',
  promtool: 'prometheus',
  'docker-compose': 'docker-compose',
} as const;
type Program = keyof typeof PACKAGES;

/** Not always in the search path of an ordinary user. */
const USUAL_FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** @throws Error that says what to install: no test is skipped for the lack of a program */
export function findProgram(name: Program): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean), ...USUAL_FOLDERS];
  const found = folders.map((folder) => join(folder, name)).find(isProgram);
  if (found === undefined)
    throw new Error(`These tests need ${name}: install it (on Debian: apt-get install ${PACKAGES[name]}).`);
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
    for (const name of Object.keys(PACKAGES) as Program[]) process.stdout.write(`${findProgram(name)}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
