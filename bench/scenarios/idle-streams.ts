// What an open stream that says nothing takes of the relay's memory: what the second half of them adds to the first, so
// that what a program needs once is not counted: the first hundreds of calls have V8 compile what they use.
import type { Line, ScenarioResult } from '../report/result.ts';
import type { MemoryUse } from '../probe/client.ts';
import type { Stage } from '../stage.ts';
import type { Subject } from '../subjects/subject.ts';
import { probed } from './probed.ts';
import { known } from './segment.ts';

const FIRST = 600;
const MORE = 500;

export async function idleStreams(stage: Stage): Promise<ScenarioResult> {
  const more = stage.options.quick ? MORE / 5 : MORE;
  const notes: string[] = [];
  const lines = await probed(stage, async (subject, memory): Promise<Line> => {
    const first = await open(stage, subject, FIRST, notes).then(memory);
    const all = await open(stage, subject, more, notes).then(memory);
    await stage.load.do({ kind: 'release' });
    const kb = (of: (use: MemoryUse) => number): number => (of(all) - of(first)) / more / 1024;
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
