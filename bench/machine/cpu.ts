// CPU time as the kernel accounts for it, in microseconds. Undefined where there is no /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Of /proc/PID/stat and /proc/stat; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const US_PER_TICK = 1_000_000 / TICKS_PER_SECOND;

/** What all threads of a process have used, to the nanosecond. Node's threads live as long as their process. */
export function cpuOf(pid: number): number | undefined {
  try {
    return sum(
      readdirSync(`/proc/${pid}/task`).map((thread) => {
        const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
        return Number(ns) / 1000;
      }),
    );
  } catch {
    return undefined;
  }
}

/** What a process and its descendants have used, those that have ended and were waited for included. */
export function cpuOfTree(pid: number): number | undefined {
  const running = treeOf(pid).map((member) => (cpuOf(member) ?? 0) + cpuOfEndedChildren(member));
  return running.length === 0 ? undefined : sum(running);
}

/** The process and its descendants; empty when there is none or no /proc. */
export function treeOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => treeOf(Number(child))))];
  } catch {
    return [];
  }
}

/** Fields 16 and 17 of stat, behind the name in brackets. */
function cpuOfEndedChildren(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[13]) + Number(fields[14])) * US_PER_TICK;
  } catch {
    return 0;
  }
}

/** What the whole machine has used, and what its host has kept from it. */
interface MachineCpu {
  readonly busyUs: number;
  readonly stolenUs: number;
}

export function cpuOfMachine(): MachineCpu | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, stolen = 0] = line
      .split(/\s+/)
      .slice(1)
      .map((ticks) => Number(ticks) * US_PER_TICK);
    return { busyUs: user + nice + system + irq + softIrq, stolenUs: stolen };
  } catch {
    return undefined;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
