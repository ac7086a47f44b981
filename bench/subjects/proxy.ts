// The bare proxy: what passing bytes costs in Node when nothing else is done.
import { join } from 'node:path';
import { firstMessage, pidOf, startNode } from '../machine/child.ts';
import { pin } from '../machine/cores.ts';
import { oneProcess } from './one-process.ts';
import { AS_SHIPPED, type Subject, type SubjectContext } from './subject.ts';

export async function startProxy(
  surroundings: SubjectContext,
  { nodeOptions, environment, probe } = AS_SHIPPED,
): Promise<Subject> {
  const { upstream, protocol, cores } = surroundings;
  const child = startNode([join(import.meta.dirname, '../servers/proxy.ts'), upstream], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    nodeOptions,
    environment,
  });
  const { port } = (await firstMessage(child)) as { port: number };
  if (cores) pin(pidOf(child), cores.measured);
  return {
    name: 'proxy',
    target: { origin: `http://127.0.0.1:${port}`, protocol: protocol.id, headers: protocol.headers('sk-bench') },
    translating: undefined,
    ...oneProcess(child, probe),
  };
}
