// One subject's turn: a job is done and what it took is read from the kernel before and after.
import type { Job, Report } from '../load/jobs.ts';
import type { LoadGenerator } from '../load-generator.ts';
import { cpuOf, cpuOfMachine, cpuOfTree } from '../machine/cpu.ts';
import type { Figures } from '../report/figures.ts';
import { percentile, sum } from '../report/statistics.ts';
import type { Stage } from '../stage.ts';
import type { Subject } from '../subjects/subject.ts';

export interface Segment {
  /** Those that were answered as they should be. */
  readonly calls: number;
  readonly figures: Figures;
  readonly failure: string | undefined;
}

interface Reading {
  readonly at: number;
  readonly measured: number | undefined;
  readonly database: number | undefined;
  readonly load: number | undefined;
  readonly upstream: number | undefined;
  /** Of this process, which waits meanwhile. */
  readonly own: number | undefined;
  readonly machine: number | undefined;
}

/** Whose work a turn is. */
const WORKERS = ['measured', 'database', 'load', 'upstream', 'own'] as const;
type Worker = (typeof WORKERS)[number];

export async function measure(
  stage: Stage,
  subject: Subject,
  job: Job,
  load: LoadGenerator = stage.load,
): Promise<Segment> {
  const before = read(stage, subject, load);
  const report = await load.do(job);
  const after = read(stage, subject, load);
  const { calls, failure } = report;
  return { calls, figures: { ...costs(report, before, after), ...times(report) }, failure };
}

function read(stage: Stage, { pid, workerPids = [], databasePid }: Subject, load: LoadGenerator): Reading {
  return {
    at: performance.now(),
    measured: pid === undefined ? undefined : cpuOfAll([pid, ...workerPids]),
    database: databasePid === undefined ? undefined : cpuOfTree(databasePid),
    load: cpuOf(load.pid),
    upstream: cpuOf(stage.upstreamPid),
    own: cpuOf(process.pid),
    machine: cpuOfMachine()?.busyUs,
  };
}

/** Undefined when it is not known of one of them. */
const cpuOfAll = (pids: readonly number[]): number | undefined => {
  const used = pids.map(cpuOf);
  return used.includes(undefined) ? undefined : sum(used);
};

function costs({ calls, failed }: Report, before: Reading, after: Reading): Figures {
  const us = (who: Worker | 'machine'): number => (after[who] ?? Number.NaN) - (before[who] ?? Number.NaN);
  const percent = (used: number): number => used / (after.at - before.at) / 10;
  const made = calls + failed;
  return known({
    cpu_us: us('measured') / made,
    database_us: us('database') / made,
    busy_percent: percent(us('measured')),
    database_percent: percent(us('database')),
    load_percent: percent(us('load')),
    upstream_percent: percent(us('upstream')),
    foreign_percent: Math.max(0, percent(us('machine') - sum(WORKERS.map((who) => us(who) || 0)))),
  });
}

function times({ calls, failed, seconds, latencies, firsts, deviations, lost }: Report): Figures {
  return known({
    calls_per_second: calls / seconds,
    p50_ms: percentile(latencies, 50),
    p99_ms: percentile(latencies, 99),
    first_p50_ms: percentile(firsts, 50),
    first_p99_ms: percentile(firsts, 99),
    gap_p99_ms: percentile(deviations, 99),
    gap_max_ms: percentile(deviations, 100),
    lost_events: lost,
    failed,
  });
}

/** Without what could not be measured. */
export function known(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined && !Number.isNaN(value)));
}
