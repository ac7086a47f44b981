// What the relay is meant to reach, and whether this run saw it do so.
import type { SubjectName } from '../subjects/subject.ts';
import { columnOf, type FigureName } from './figures.ts';
import { figuresOf, type ScenarioResult, type Verdict } from './result.ts';

interface Limit {
  readonly target: string;
  readonly scenario: string;
  readonly figure: FigureName;
  /** Whose figure it is; the relay's when left out. */
  readonly subject?: string;
  readonly max?: number;
  readonly min?: number;
}

const LIMITS: readonly Limit[] = [
  {
    target: 'CPU of a small call, 64 in flight: at most 3 × the bare proxy',
    scenario: 'small-64',
    figure: 'cpu_ratio',
    max: 3,
  },
  {
    target: 'The same with PostgreSQL: at most 5 × the bare proxy',
    scenario: 'small-64',
    figure: 'both_ratio',
    max: 5,
  },
  {
    target: 'CPU of a small call, 16 in flight: at most 5 × the bare proxy',
    scenario: 'small-16',
    figure: 'cpu_ratio',
    max: 5,
  },
  {
    target: 'The same with PostgreSQL: at most 8 × the bare proxy',
    scenario: 'small-16',
    figure: 'both_ratio',
    max: 8,
  },
  {
    target: 'CPU of a 331 kB prompt: at most 1.6 × the bare proxy',
    scenario: 'prompt',
    figure: 'cpu_ratio',
    max: 1.6,
  },
  {
    target: 'Translated streams: at most 5 µs of CPU for each event',
    scenario: 'translated',
    figure: 'event_us',
    max: 5,
  },
  {
    target: '200 paced streams: at most 1.5 × the CPU of the bare proxy',
    scenario: 'paced-200',
    figure: 'cpu_ratio',
    max: 1.5,
  },
  {
    target: 'Overload: time to first event at p99 at most 3 × that at p50',
    scenario: 'overload',
    figure: 'first_ratio',
    max: 3,
  },
  {
    target: '400 paced streams: first event at p99 at most 60 ms above direct',
    scenario: 'paced-400',
    figure: 'added_first_p99_ms',
    max: 60,
  },
  { target: '400 paced streams: no event lost', scenario: 'paced-400', figure: 'lost_events', max: 0 },
  {
    target: 'One call at a time: at most 1.5 ms above direct at p50',
    scenario: 'small-1',
    figure: 'added_p50_ms',
    max: 1.5,
  },
  { target: 'Idle: at most 150 MB resident', scenario: 'memory', figure: 'idle_rss_mb', max: 150 },
  { target: 'An idle stream: at most 39 kB', scenario: 'idle-streams', figure: 'kb_per_stream', max: 39 },
  { target: 'A slow reader: less than 2 MB', scenario: 'slow-readers', figure: 'mb_per_client', max: 2 },
  { target: 'Unknown keys: cost good calls at most 10 %', scenario: 'unknown-keys', figure: 'cost_percent', max: 10 },
  {
    target: 'Two workers: at most 1.1 × the CPU of one process for each call, PostgreSQL included',
    scenario: 'workers',
    subject: 'workers',
    figure: 'one_ratio',
    max: 1.1,
  },
  {
    target: 'Pages over a log of a million calls: p95 of each at most 300 ms',
    scenario: 'log-pages',
    subject: 'slowest page',
    figure: 'p95_ms',
    max: 300,
  },
  {
    target: 'Pages: at most 60 kB each, gzipped',
    scenario: 'log-pages',
    subject: 'largest page',
    figure: 'gzip_kb',
    max: 60,
  },
  {
    target: 'CSV of a million calls: at most 8 MB more memory in use while it is sent than before',
    scenario: 'log-pages',
    subject: 'CSV of all',
    figure: 'growth_mb',
    max: 8,
  },
  {
    target: 'Ten million calls in the log: CPU of a call, PostgreSQL included, at most 1.2 × that with none',
    scenario: 'full-log',
    subject: 'full log',
    figure: 'empty_ratio',
    max: 1.2,
  },
  { target: 'Unknown keys: leave no row', scenario: 'unknown-keys', figure: 'unknown_key_rows', max: 0 },
];

/** Figures by which the relay and the peer are compared, and whether more of it is better. */
const RIVALRY: Readonly<Partial<Record<FigureName, 'more' | 'less'>>> = {
  calls_per_second: 'more',
  cpu_us: 'less',
  p50_ms: 'less',
  p99_ms: 'less',
  first_p50_ms: 'less',
  first_p99_ms: 'less',
  gap_p99_ms: 'less',
  lost_events: 'less',
  failed: 'less',
  idle_rss_mb: 'less',
  rss_mb: 'less',
  kb_per_stream: 'less',
  mb_per_client: 'less',
  loop_p99_ms: 'less',
  loop_max_ms: 'less',
};

/** @param quick the run was too short for its figures to say whether a target is met */
export function judge(scenarios: readonly ScenarioResult[], { quick }: { readonly quick: boolean }): Verdict[] {
  const verdicts = [...LIMITS.map((limit) => judgeLimit(limit, scenarios)), judgeRivalry(scenarios)];
  return quick ? verdicts.map((verdict) => ({ ...verdict, met: undefined })) : verdicts;
}

function judgeLimit(
  { target, scenario, figure, subject = 'relay', max = Infinity, min = -Infinity }: Limit,
  scenarios: readonly ScenarioResult[],
): Verdict {
  const result = scenarios.find(({ name }) => name === scenario);
  const { [figure]: value, failed = 0 } = figuresOf(result, subject);
  if (value === undefined) return { target, measured: undefined, met: undefined };
  const measured = value.toFixed(Math.max(columnOf(figure).digits, 1));
  if (failed > 0) return { target, measured: `${measured}, with ${failed} failed calls`, met: false };
  return { target, measured, met: value >= min && value <= max };
}

/** Every figure that both have; what the peer cannot do at all counts for the relay. */
function judgeRivalry(scenarios: readonly ScenarioResult[]): Verdict {
  const target = 'Ahead of the peer on every line';
  const lines = scenarios.flatMap((scenario) => compare(scenario));
  if (lines.length === 0) return { target, measured: undefined, met: undefined };
  const behind = lines.filter(({ ahead }) => !ahead).map(({ line }) => line);
  const measured = `${lines.length - behind.length} of ${lines.length}${behind.length > 0 ? `; behind on ${behind.join(', ')}` : ''}`;
  return { target, measured, met: behind.length === 0 };
}

function compare(scenario: ScenarioResult): { readonly line: string; readonly ahead: boolean }[] {
  const of = (subject: SubjectName, figure: FigureName): number | undefined => figuresOf(scenario, subject)[figure];
  return (Object.keys(RIVALRY) as FigureName[]).flatMap((figure) => {
    const [ours, theirs] = [of('relay', figure), of('peer', figure)];
    if (ours === undefined || theirs === undefined) return [];
    const ahead = RIVALRY[figure] === 'more' ? ours >= theirs : ours <= theirs;
    const { head, digits } = columnOf(figure);
    return [{ line: `${scenario.name} ${head} ${ours.toFixed(digits)} against ${theirs.toFixed(digits)}`, ahead }];
  });
}
