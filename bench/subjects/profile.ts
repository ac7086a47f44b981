// How a program is started so that it leaves a CPU profile when it ends.
import type { ProcessOptions } from './subject.ts';

export function profiled(extras: ProcessOptions, folder: string): ProcessOptions {
  const options = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=relay-${Date.now()}.cpuprofile`];
  return { ...extras, nodeOptions: [...extras.nodeOptions, ...options] };
}
