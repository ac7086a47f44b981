// Who runs on which core: the measured program has one to itself, everything else shares the others. Linux only.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { treeOf } from './cpu.ts';

/** Lists of cores as taskset reads them. */
export interface Cores {
  readonly measured: string;
  readonly others: string;
  readonly all: string;
  readonly otherCount: number;
}

/** The division of this machine; else the reason why there is none. */
export function divideCores(): Cores | string {
  if (process.platform !== 'linux') return `programs cannot be pinned to cores on ${process.platform}`;
  const [measured, ...others] = allowedCores();
  if (measured === undefined || others.length === 0) return 'there is only one core';
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
  } catch {
    return 'there is no taskset here';
  }
  return {
    measured: String(measured),
    others: others.join(','),
    all: [measured, ...others].join(','),
    otherCount: others.length,
  };
}

/** Moves a process with all of its threads; what it starts from now on inherits the place. */
export function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' });
}

export function pinTree(pid: number, cores: string): void {
  for (const member of treeOf(pid)) pin(member, cores);
}

/** From a list such as `0-2,5`. */
function allowedCores(): number[] {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
