// The relay as shipped: the built program on a data folder of its own, its embedded PostgreSQL, its log in a file, set
// up from outside with the operator's commands.
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot, OPTIONS } from '../../scripts/pinned-node.mjs';
import { pin, pinTree } from '../machine/cores.ts';
import { end, pidOf, startNode, until } from '../machine/child.ts';
import { type Behaviour, BEHAVIOURS, modelFor } from '../work/behaviours.ts';
import type { ProtocolEndpoint } from '../work/protocol.ts';
import { runCommand } from './operator.ts';
import { AS_SHIPPED, type Subject, type SubjectContext } from './subject.ts';

const EMAIL = 'bench@example.com';

export interface RelaySubject extends Subject {
  readonly dataDir: string;
  /** Of the account that its calls are made with. */
  readonly email: string;
}

export async function startRelay(surroundings: SubjectContext, extras = AS_SHIPPED): Promise<RelaySubject> {
  const { protocol, cores } = surroundings;
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  // PostgreSQL may have to run as another user.
  chmodSync(dataDir, 0o755);
  // Also when the run is interrupted.
  const remove = (): void => rmSync(dataDir, { recursive: true, force: true });
  process.once('exit', remove);
  const child = startServer(dataDir, extras);
  const origin = await addressOf(child, dataDir);
  const key = await setUp(dataDir, surroundings);
  const databasePid = (JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { pid: number }).pid;
  if (cores) {
    pinTree(databasePid, cores.others);
    pin(pidOf(child), cores.measured);
  }
  const target = { origin, protocol: protocol.id, headers: protocol.headers(key) };
  return {
    name: 'relay',
    dataDir,
    email: EMAIL,
    target,
    translating: target,
    pid: pidOf(child),
    databasePid,
    probe: extras.probe,
    async stop() {
      await end(child);
      remove();
      process.off('exit', remove);
      extras.probe?.remove();
    },
  };
}

function startServer(dataDir: string, { nodeOptions, environment }: typeof AS_SHIPPED): ChildProcess {
  const log = openSync(logIn(dataDir), 'a');
  return startNode([inRoot('dist/src/main.js')], {
    stdio: ['ignore', log, log, 'ipc'],
    nodeOptions: [...OPTIONS, ...nodeOptions],
    environment: { HOME: dataDir, DATA_DIR: dataDir, PORT: '0', SHUTDOWN_GRACE_MS: '2000', ...environment },
  });
}

const logIn = (dataDir: string): string => join(dataDir, 'relay.log');

function addressOf(child: ChildProcess, dataDir: string): Promise<string> {
  return until(() => {
    const log = readFileSync(logIn(dataDir), 'utf8');
    if (child.exitCode !== null) throw new Error(`The relay did not start:\n${log}`);
    return /Switchboard is at (\S+)/.exec(log)?.[1];
  }, 'the relay listens');
}

/** An account with more money than a run can spend, the catalog, a key. @returns the key's secret */
async function setUp(dataDir: string, surroundings: SubjectContext): Promise<string> {
  const catalog = join(dataDir, 'catalog.yaml');
  writeFileSync(catalog, catalogFor(surroundings));
  await runCommand(dataDir, 'account', 'create', '--email', EMAIL, '--credit', '100000000');
  await runCommand(dataDir, 'catalog', 'apply', catalog);
  return (await runCommand(dataDir, 'key', 'create', '--email', EMAIL, '--name', 'bench')).trim();
}

function catalogFor({ upstream, protocol, foreign }: SubjectContext): string {
  const model = {
    context_window: 1_000_000,
    max_output_tokens: 4096,
    prices: [{ input: 1, cache_read: 0.1, output: 10 }],
  };
  const channel = ({ id }: ProtocolEndpoint, behaviours: readonly Behaviour[]): object => ({
    name: id,
    protocol: id,
    base_url: `${upstream}/v1`,
    credentials: ['upstream-secret-of-the-benchmark'],
    models: behaviours.map(modelFor),
  });
  const own = BEHAVIOURS.filter((behaviour) => behaviour !== 'translated');
  const models = BEHAVIOURS.map((behaviour) => ({ name: modelFor(behaviour), ...model }));
  // YAML is a superset of JSON.
  return JSON.stringify({ models, channels: [channel(protocol, own), channel(foreign, ['translated'])] });
}
