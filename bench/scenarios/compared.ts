// The scenarios in which all subjects do the same work in turn, round by round, so that drift hits all alike.
import type { Job, Target } from '../load/jobs.ts';
import { FIGURE_NAMES, type FigureName, type Figures } from '../report/figures.ts';
import type { Line, ScenarioResult } from '../report/result.ts';
import { median } from '../report/statistics.ts';
import type { Stage } from '../stage.ts';
import type { Subject } from '../subjects/subject.ts';
import { type Behaviour, EVENTS, PACED_EVENTS } from '../work/behaviours.ts';
import { limitNotes } from './limits.ts';
import type { ComparedScenarioName } from './names.ts';
import { known, measure, type Segment } from './segment.ts';

interface Work {
  readonly title: string;
  /** Figures that say nothing here. */
  readonly without: readonly FigureName[];
  /** Of each stream. */
  readonly events: number;
  /** Where a subject's calls go; undefined when it cannot do this work. */
  target(subject: Subject): Target | undefined;
  /** @param share of the usual time */
  job(target: Target, share: number): Job;
}

const SMALL_BYTES = 900;
const PROMPT_BYTES = 331_000;
const TURN_MS = 1500;
/** Of a turn; in the first round of a scenario the compilers still have work to do. */
const FIRST_WARM_UP = 1.2;
const WARM_UP = 0.2;
/** Of a turn, before anything is compared. */
const LONG_WARM_UP = 5;
/** Of a turn with `--quick`: enough for every figure to have a value. */
const QUICK_SHARE = 0.1;
/** Below this share, streams no longer start faster than the relay can start them. */
const MIN_OVERLOAD_SHARE = 0.25;

const OF_STREAMS: readonly FigureName[] = [
  'event_us',
  'first_ratio',
  'first_p50_ms',
  'first_p99_ms',
  'added_first_p50_ms',
  'added_first_p99_ms',
  'lost_events',
];
const OF_PACE: readonly FigureName[] = ['gap_p99_ms', 'gap_max_ms'];

const calls = (title: string, behaviour: Behaviour, promptBytes: number, inFlight: number): Work => ({
  title,
  without: [...(behaviour === 'answer' ? OF_STREAMS : []), ...OF_PACE],
  events: EVENTS[behaviour],
  target: ({ target, translating }) => (behaviour === 'translated' ? translating : target),
  job: (target, share) => ({ kind: 'calls', target, behaviour, promptBytes, inFlight, forMs: TURN_MS * share }),
});

const paced = (streams: number): Work => ({
  title: `${streams} paced streams of 64 events, 333 started a second`,
  without: ['calls_per_second', 'p50_ms', 'p99_ms', 'added_p50_ms', 'added_p99_ms'],
  events: PACED_EVENTS,
  target: ({ target }) => target,
  job(target, share) {
    const count = Math.ceil(streams * share);
    return { kind: 'paced', target, streams: count, rampMs: count * 3 };
  },
});

/** Twice what the relay can start in that time on the machines of today. */
const OVERLOAD_MS = 150;

const overload: Work = {
  title: '600 paced streams started within 0.15 s, 400 of them on new connections',
  without: ['calls_per_second', 'p50_ms', 'p99_ms', 'added_p50_ms', 'added_p99_ms', ...OF_PACE],
  events: PACED_EVENTS,
  target: ({ target }) => target,
  job(target, share) {
    const part = Math.min(Math.max(share, MIN_OVERLOAD_SHARE), 1);
    return {
      kind: 'paced',
      target,
      streams: Math.ceil(600 * part),
      rampMs: OVERLOAD_MS * part,
      connections: Math.ceil(200 * part),
    };
  },
};

const WORK: Readonly<Record<ComparedScenarioName, Work>> = {
  'small-1': calls('Small JSON calls, one at a time', 'answer', SMALL_BYTES, 1),
  'small-16': calls('Small JSON calls, 16 in flight', 'answer', SMALL_BYTES, 16),
  'small-64': calls('Small JSON calls, 64 in flight', 'answer', SMALL_BYTES, 64),
  prompt: calls('Prompts of 331 kB, 8 in flight', 'answer', PROMPT_BYTES, 8),
  stream: calls('Streams of 200 events as fast as they go, 16 in flight', 'fast', SMALL_BYTES, 16),
  translated: calls('Streams from an upstream of another protocol, 16 in flight', 'translated', SMALL_BYTES, 16),
  'paced-200': paced(200),
  'paced-400': paced(400),
  'paced-1000': paced(1000),
  overload,
};

/**
 * Small calls, until V8 has compiled what a call runs through. A relay is a program that runs for months: its first
 * thousand calls take twice as long as those after them, and a scenario's own turns are too short to get past that.
 */
export async function warmUp(stage: Stage, { target }: Subject): Promise<void> {
  await stage.load.do(WORK['small-64'].job(target, stage.options.quick ? QUICK_SHARE : LONG_WARM_UP));
  await stage.load.do({ kind: 'release' });
}

export async function compare(
  name: ComparedScenarioName,
  stage: Stage,
  subjects: readonly Subject[],
): Promise<ScenarioResult> {
  const work = WORK[name];
  const { rounds, quick } = stage.options;
  const share = quick ? QUICK_SHARE : 1;
  const able = subjects.flatMap((subject) => {
    const target = work.target(subject);
    return target === undefined ? [] : [{ subject, target }];
  });
  const turns = new Map<string, Segment[]>(able.map(({ subject }) => [subject.name, []]));
  for (let round = 0; round < rounds; round++)
    // Whoever came first comes last in the next round.
    for (const { subject, target } of round % 2 === 0 ? able : able.toReversed()) {
      await stage.load.do(work.job(target, share * (round === 0 ? FIRST_WARM_UP : WARM_UP)));
      turns.get(subject.name)?.push(await measure(stage, subject, work.job(target, share)));
      await stage.load.do({ kind: 'release' });
    }
  return summary(name, work, turns, stage);
}

function summary(
  name: string,
  work: Work,
  turns: ReadonlyMap<string, readonly Segment[]>,
  stage: Stage,
): ScenarioResult {
  const of = (subject: string, round: number): Figures => turns.get(subject)?.[round]?.figures ?? {};
  const lines = [...turns].map(([subject, segments]): Line => {
    const rounds = segments.map(({ figures }, round) =>
      without(compareWith(perEvent(figures, work), of('direct', round), of('proxy', round), subject), work.without),
    );
    return { subject, rounds, figures: medians(rounds) };
  });
  const failures = [...turns].flatMap(([subject, segments]) => {
    const failure = segments.find((segment) => segment.failure !== undefined)?.failure;
    return failure === undefined ? [] : [`${subject}: calls failed: ${failure}`];
  });
  return { name, title: work.title, lines, notes: [...failures, ...limitNotes(lines, stage)] };
}

const perEvent = (figures: Figures, { events }: Work): Figures =>
  known({
    ...figures,
    both_us: (figures.cpu_us ?? Number.NaN) + (figures.database_us ?? 0),
    event_us: (figures.cpu_us ?? Number.NaN) / events,
    first_ratio: (figures.first_p99_ms ?? Number.NaN) / (figures.first_p50_ms ?? Number.NaN),
  });

/** What it adds to the upstream's own times and takes beside the bare proxy, in the same round. */
function compareWith(own: Figures, direct: Figures, proxy: Figures, subject: string): Figures {
  if (subject === 'direct') return own;
  const added = (figure: FigureName): number => (own[figure] ?? Number.NaN) - (direct[figure] ?? Number.NaN);
  return known({
    ...own,
    cpu_ratio: (own.cpu_us ?? Number.NaN) / (proxy.cpu_us ?? Number.NaN),
    both_ratio: (own.both_us ?? Number.NaN) / (proxy.cpu_us ?? Number.NaN),
    added_p50_ms: added('p50_ms'),
    added_p99_ms: added('p99_ms'),
    added_first_p50_ms: added('first_p50_ms'),
    added_first_p99_ms: added('first_p99_ms'),
  });
}

const without = (figures: Figures, names: readonly FigureName[]): Figures =>
  Object.fromEntries(Object.entries(figures).filter(([name]) => !names.includes(name as FigureName)));

/** Lost events and failed calls are added up: one of them in one round counts. */
export function medians(rounds: readonly Figures[]): Figures {
  const typical = FIGURE_NAMES.map((name) => {
    const values = rounds.map((figures) => figures[name]).filter((value) => value !== undefined);
    const counted = name === 'lost_events' || name === 'failed';
    return [name, counted && values.length > 0 ? values.reduce((all, one) => all + one, 0) : median(values)] as const;
  });
  return known(Object.fromEntries(typical));
}
