// How a program is started so that a probe inside it answers.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ProbeClient } from '../probe/client.ts';
import type { ProcessOptions } from './subject.ts';

export function watched(): ProcessOptions & { readonly probe: ProbeClient } {
  const probe = new ProbeClient();
  const preload = pathToFileURL(join(import.meta.dirname, '../probe/preload.ts')).href;
  return { nodeOptions: ['--expose-gc', '--import', preload], environment: { BENCH_PROBE: probe.path }, probe };
}
