import pg from 'pg';
import { chownSync, copyFileSync, appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBinaries } from '../../src/platform/database/embedded/binaries.js';
import { runAs, serverUser } from '../../src/platform/database/embedded/run-as.js';
import { launchServer } from '../../src/platform/database/embedded/server-process.js';
import { freePort } from './ports.js';
import { childrenOf, isAlive, untilGone } from './processes.js';
import { removeDataDir, temporaryDataDir } from './temporary-data-dir.js';

/** Settings as the documentation has them. */
const SETTINGS = join(import.meta.dirname, '../../deploy/several-hosts');
const SUPERUSER = 'postgres';

interface Server {
  readonly directory: string;
  readonly port: number;
  pid: number;
}

/** A primary and its synchronous standby, with the settings of `deploy/several-hosts`, without passwords. */
export class PostgresPair {
  private constructor(
    private readonly folder: string,
    private readonly primary: Server,
    private readonly standby: Server,
  ) {}

  static async start(): Promise<PostgresPair> {
    const user = serverUser();
    const binaries = findBinaries(user, () => undefined);
    const folder = temporaryDataDir();
    const place = join(folder, 'clusters');
    mkdirSync(place);
    if (user.switched) chownSync(place, user.uid, user.gid);
    const [primary, standby] = [join(place, 'primary'), join(place, 'standby')];
    const run = (program: string, ...args: string[]): void => {
      const { status, stderr } = runAs(user, program, args);
      if (status !== 0) throw new Error(`${program}: ${stderr}`);
    };
    run(binaries.initdb, '-D', primary, `--username=${SUPERUSER}`, '--auth=trust', '--encoding=UTF8', '--no-sync');
    include(primary, 'primary.conf');
    // A server that never ran needs no pg_basebackup, which the package lacks.
    run('/bin/cp', '-a', primary, standby);
    const ports = [await freePort(), await freePort()] as const;
    include(standby, 'standby.conf', (text) =>
      text.replace(
        'host=db-1.internal port=5432 user=replication',
        `host=127.0.0.1 port=${ports[0]} user=${SUPERUSER}`,
      ),
    );
    writeFileSync(join(standby, 'standby.signal'), '');
    const launch = async (directory: string, port: number): Promise<Server> => {
      const logFile = join(folder, `${port}.log`);
      return { directory, port, pid: await launchServer({ directory, port, logFile, binaries, user }) };
    };
    return new PostgresPair(folder, await launch(primary, ports[0]), await launch(standby, ports[1]));
  }

  /** Both hosts, as DATABASE_URL names them; the standby first, which is not where a client may stay. */
  get url(): string {
    return `postgres://${SUPERUSER}@127.0.0.1:${this.standby.port},127.0.0.1:${this.primary.port}/postgres`;
  }

  /** At once and without a word, as a machine dies. */
  async killPrimary(): Promise<void> {
    for (const pid of [this.primary.pid, ...childrenOf(this.primary.pid)]) process.kill(pid, 'SIGKILL');
    await untilGone(this.primary.pid);
  }

  /** What an operator, or a program that watches the primary, does next. */
  async promoteStandby(): Promise<void> {
    const promoted = await this.query<{ promoted: boolean }>('SELECT pg_promote() AS promoted');
    expect(promoted).toEqual([{ promoted: true }]);
  }

  /** On the server that was started as the standby. */
  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { port } = this.standby;
    const client = new pg.Client({ connectionString: `postgres://${SUPERUSER}@127.0.0.1:${port}/postgres` });
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    for (const { pid } of [this.standby, this.primary]) {
      if (!isAlive(pid)) continue;
      process.kill(pid, 'SIGINT');
      await untilGone(pid);
    }
    removeDataDir(this.folder);
  }
}

/** In the data directory, since the server's user may be unable to read the checkout. */
function include(directory: string, file: string, edit = (text: string): string => text): void {
  const copy = join(directory, file);
  copyFileSync(join(SETTINGS, file), copy);
  writeFileSync(copy, edit(readFileSync(copy, 'utf8')));
  // Nothing here needs to survive a crash of the machine.
  appendFileSync(join(directory, 'postgresql.conf'), `\ninclude '${file}'\nfsync = off\n`);
}
