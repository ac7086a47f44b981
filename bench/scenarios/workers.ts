// What a second worker brings: the relay with one process and with two, on the cores that everything else has too.
import { pin, pinTree } from '../machine/cores.ts';
import type { Figures } from '../report/figures.ts';
import type { Line, ScenarioResult } from '../report/result.ts';
import type { Stage } from '../stage.ts';
import { startRelay } from '../subjects/relay.ts';
import type { Subject } from '../subjects/subject.ts';
import { startWorkers } from '../subjects/workers.ts';
import { medians, warmUp } from './compared.ts';
import { known, measure, type Segment } from './segment.ts';

const TURN_MS = 3000;

export async function workers(stage: Stage): Promise<ScenarioResult> {
  const { cores } = stage.surroundings;
  const programs = [stage.load.pid, stage.upstreamPid];
  const surroundings = { ...stage.surroundings, cores: undefined };
  const subjects: Subject[] = [];
  try {
    for (const start of [startRelay, startWorkers]) subjects.push(await start(surroundings));
    if (cores) {
      for (const { pid, databasePid } of subjects)
        for (const root of [pid, databasePid]) if (root !== undefined) pinTree(root, cores.all);
      for (const pid of programs) pin(pid, cores.all);
    }
    for (const subject of subjects) await warmUp(stage, subject);
    const lines = await compare(stage, subjects);
    const title = 'Small JSON calls, 64 in flight: one process and two workers, nothing with a core to itself';
    return { name: 'workers', title, ...lines };
  } finally {
    for (const pid of cores ? programs : []) pin(pid, cores?.others ?? '');
    for (const subject of subjects) await subject.stop();
  }
}

async function compare(
  stage: Stage,
  subjects: readonly Subject[],
): Promise<{ readonly lines: readonly Line[]; readonly notes: readonly string[] }> {
  const { rounds, quick } = stage.options;
  const turns = subjects.map((subject) => ({ subject, segments: [] as Segment[] }));
  for (let round = 0; round < rounds; round++)
    for (const { subject, segments } of round % 2 === 0 ? turns : turns.toReversed())
      segments.push(await turn(stage, subject, quick ? TURN_MS / 4 : TURN_MS));
  const one = turns[0]?.segments ?? [];
  const lines = turns.map(({ subject, segments }): Line => {
    const figures = segments.map((segment, round) => besideOne(subject, segment.figures, one[round]?.figures));
    return { subject: subject.name, rounds: figures, figures: medians(figures) };
  });
  const notes = turns.flatMap(({ subject, segments }) => {
    const failure = segments.find((segment) => segment.failure !== undefined)?.failure;
    return failure === undefined ? [] : [`${subject.name}: calls failed: ${failure}`];
  });
  return { lines, notes };
}

/** Connections are made anew in each turn: how they fall to the workers is part of what is measured. */
async function turn(stage: Stage, subject: Subject, forMs: number): Promise<Segment> {
  const job = { kind: 'calls', target: subject.target, behaviour: 'answer', promptBytes: 900, inFlight: 64 } as const;
  await stage.load.do({ ...job, forMs: forMs / 4 });
  const segment = await measure(stage, subject, { ...job, forMs });
  await stage.load.do({ kind: 'release' });
  return segment;
}

/** CPU of a call relative to that of the one process, in the same round. */
function besideOne({ name }: Subject, figures: Figures, one: Figures = {}): Figures {
  const both = ({ cpu_us: cpu = Number.NaN, database_us: database = Number.NaN }: Figures): number => cpu + database;
  const own = known({ ...figures, both_us: both(figures) });
  return name === 'relay' ? own : known({ ...own, one_ratio: both(own) / both(one) });
}
