// Another gateway on the same work: @portkey-ai/gateway from npm, kept apart from our dependencies in bench/peers.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inRoot } from '../../scripts/pinned-node.mjs';
import type { Target } from '../load/jobs.ts';
import { pidOf, startNode } from '../machine/child.ts';
import { pin } from '../machine/cores.ts';
import type { ProtocolEndpoint } from '../work/protocol.ts';
import { oneProcess } from './one-process.ts';
import { AS_SHIPPED, type Subject, type SubjectContext } from './subject.ts';

const FOLDER = inRoot('bench/peers');
const PACKAGE = join(FOLDER, 'node_modules/@portkey-ai/gateway');
const INSTALLS_WITHIN_MS = 120_000;
const STARTS_WITHIN_MS = 30_000;

/** What it calls an upstream that speaks this protocol. */
const PROVIDERS: Readonly<Record<ProtocolEndpoint['id'], string>> = {
  'chat-completions': 'openai',
  messages: 'anthropic',
  responses: 'openai',
};

/** Name and version, installed now if need be; undefined with a line on stderr when it cannot be had. */
export function installPeer(): string | undefined {
  try {
    if (!isInstalled()) {
      const npm = ['ci', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      execFileSync('npm', npm, { stdio: ['ignore', process.stderr, process.stderr], timeout: INSTALLS_WITHIN_MS });
    }
    const { name, version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Record<string, string>;
    return `${name} ${version}`;
  } catch (error) {
    console.error(`The peer could not be installed, and the run goes on without it: ${String(error)}`);
    return undefined;
  }
}

/** npm notes what it has installed when it is done; a lock that has changed since is younger. */
function isInstalled(): boolean {
  const installed = statSync(join(FOLDER, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
  return installed !== undefined && installed.mtimeMs >= statSync(join(FOLDER, 'package-lock.json')).mtimeMs;
}

export async function startPeer(
  surroundings: SubjectContext,
  { nodeOptions, environment, probe } = AS_SHIPPED,
): Promise<Subject> {
  const { upstream, protocol, foreign, cores } = surroundings;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = startNode([join(PACKAGE, 'build/start-server.js'), '--headless', `--port=${port}`], {
    stdio: 'ignore',
    nodeOptions,
    environment,
  });
  await untilAnswered(origin);
  if (cores) pin(pidOf(child), cores.measured);
  const targetAt = (provider: string): Target => {
    const upstreamHeaders = { 'x-portkey-provider': provider, 'x-portkey-custom-host': `${upstream}/v1` };
    return { origin, protocol: protocol.id, headers: { ...protocol.headers('sk-bench'), ...upstreamHeaders } };
  };
  const translates = protocol.id === 'chat-completions' && foreign.id === 'messages';
  return {
    name: 'peer',
    target: targetAt(PROVIDERS[protocol.id]),
    translating: translates ? targetAt(PROVIDERS[foreign.id]) : undefined,
    ...oneProcess(child, probe),
  };
}

async function untilAnswered(origin: string): Promise<void> {
  const deadline = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    try {
      await fetch(origin);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

/** It cannot be told to take one itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
