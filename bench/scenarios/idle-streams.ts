// What an open stream that says nothing takes of the relay's memory: the difference between many and a few of them, so
// that what the first call of all brings in is not counted.
import type { Line, ScenarioResult } from '../report/result.ts';
import type { MemoryUse } from '../probe/client.ts';
import type { Stage } from '../stage.ts';
import type { Subject } from '../subjects/subject.ts';
import { probed } from './probed.ts';
import { known } from './segment.ts';

const FEW = 100;
const MORE = 500;

export async function idleStreams(stage: Stage): Promise<ScenarioResult> {
  const more = stage.options.quick ? MORE / 5 : MORE;
  const notes: string[] = [];
  const lines = await probed(stage, async (subject, memory): Promise<Line> => {
    const few = await open(stage, subject, FEW, notes).then(memory);
    const many = await open(stage, subject, more, notes).then(memory);
    await stage.load.do({ kind: 'release' });
    const kb = (of: (use: MemoryUse) => number): number => (of(many) - of(few)) / more / 1024;
    const figures = known({
      kb_per_stream: kb(({ rss }) => rss),
      heap_kb_per_stream: kb(({ heapUsed, external }) => heapUsed + external),
    });
    return { subject: subject.name, figures, rounds: [] };
  });
  return { name: 'idle-streams', title: `${more} open streams that say nothing`, lines, notes };
}

async function open(stage: Stage, { name, target }: Subject, streams: number, notes: string[]): Promise<void> {
  const { failure } = await stage.load.do({ kind: 'hold', target, streams });
  if (failure !== undefined) notes.push(`${name}: streams could not be opened: ${failure}`);
}
