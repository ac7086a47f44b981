// Whether large prompts hold up other people's streams: the event loop of the program and the pace of 50 streams, while
// prompts of 331 kB and of 30 MB are sent by another client.
import type { Job } from '../load/jobs.ts';
import type { Line, ScenarioResult } from '../report/result.ts';
import type { Figures } from '../report/figures.ts';
import { sum } from '../report/statistics.ts';
import type { Stage } from '../stage.ts';
import type { Subject } from '../subjects/subject.ts';
import { probed, probeOf } from './probed.ts';
import { known, measure } from './segment.ts';

const STREAMS = 50;
const SIZES = [
  { promptBytes: 331_000, inFlight: 4 },
  { promptBytes: 30_000_000, inFlight: 1 },
];
const FOR_MS = 2500;

export async function largePrompts(stage: Stage): Promise<ScenarioResult> {
  const forMs = stage.options.quick ? FOR_MS / 5 : FOR_MS;
  const notes: string[] = [];
  const lines = await probed(stage, async (subject): Promise<Line> => {
    await stage.load.do(streams(subject, 500));
    const alone = (await measure(stage, subject, streams(subject, forMs))).figures;
    await probeOf(subject).watch();
    const large = sendPrompts(stage, subject, forMs, notes);
    const meanwhile = (await measure(stage, subject, streams(subject, SIZES.length * forMs))).figures;
    const count = await large;
    const { p99Ms, maxMs } = await probeOf(subject).delay();
    return { subject: subject.name, figures: figuresFrom(alone, meanwhile, count, p99Ms, maxMs), rounds: [] };
  });
  await stage.other.do({ kind: 'release' });
  return { name: 'large-prompts', title: `${STREAMS} paced streams while 331 kB and 30 MB prompts pass`, lines, notes };
}

const streams = ({ target }: Subject, forMs: number): Job => ({
  kind: 'calls',
  target,
  behaviour: 'paced',
  promptBytes: 900,
  inFlight: STREAMS,
  forMs,
});

/** One size after the other. @returns how many were answered */
async function sendPrompts(stage: Stage, { name, target }: Subject, forMs: number, notes: string[]): Promise<number> {
  const counts: number[] = [];
  for (const size of SIZES) {
    const { calls, failure } = await stage.other.do({ kind: 'calls', target, behaviour: 'answer', ...size, forMs });
    counts.push(calls);
    if (failure !== undefined) notes.push(`${name}: a prompt of ${size.promptBytes} bytes failed: ${failure}`);
  }
  return sum(counts);
}

function figuresFrom(alone: Figures, meanwhile: Figures, large: number, p99Ms: number, maxMs: number): Figures {
  return known({
    large_calls: large,
    loop_p99_ms: p99Ms,
    loop_max_ms: maxMs,
    gap_p99_alone_ms: alone.gap_p99_ms,
    gap_p99_ms: meanwhile.gap_p99_ms,
    gap_max_ms: meanwhile.gap_max_ms,
    lost_events: (alone.lost_events ?? 0) + (meanwhile.lost_events ?? 0),
    failed: (alone.failed ?? 0) + (meanwhile.failed ?? 0),
  });
}
