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
  readonly most?: number;
  readonly least?: number;
}

const LIMITS: readonly Limit[] = [
  {
    target: 'CPU of a small call, 64 in flight: at most 3.0 × the bare proxy',
    scenario: 'small-64',
    figure: 'cpu_ratio',
    most: 3,
  },
  { target: 'PostgreSQL, 64 in flight: at most 60 µs a call', scenario: 'small-64', figure: 'database_us', most: 60 },
  { target: 'PostgreSQL, 16 in flight: at most 110 µs a call', scenario: 'small-16', figure: 'database_us', most: 110 },
  {
    target: 'CPU of a 331 kB prompt: at most 1.6 × the bare proxy',
    scenario: 'prompt',
    figure: 'cpu_ratio',
    most: 1.6,
  },
  {
    target: 'Translated streams: at most 5 µs of CPU for each event',
    scenario: 'translated',
    figure: 'event_us',
    most: 5,
  },
  {
    target: '400 paced streams: first event at p99 at most 60 ms above direct',
    scenario: 'paced-400',
    figure: 'added_first_p99_ms',
    most: 60,
  },
  { target: '400 paced streams: no event lost', scenario: 'paced-400', figure: 'lost_events', most: 0 },
  {
    target: 'One call at a time: at most 1.5 ms above direct at p50',
    scenario: 'small-1',
    figure: 'added_p50_ms',
    most: 1.5,
  },
  { target: 'Idle: at most 180 MB resident', scenario: 'memory', figure: 'idle_rss_mb', most: 180 },
  { target: 'An idle stream: at most 60 kB', scenario: 'idle-streams', figure: 'kb_per_stream', most: 60 },
  { target: 'A slow reader: less than 2 MB', scenario: 'slow-readers', figure: 'mb_per_client', most: 2 },
  { target: 'Unknown keys: cost good calls at most 10 %', scenario: 'unknown-keys', figure: 'cost_percent', most: 10 },
  {
    target: 'Two workers: at least 1.6 × the calls of one process, on two cores that everything shares',
    scenario: 'workers',
    subject: 'workers',
    figure: 'speed_up',
    least: 1.6,
  },
  {
    target: 'Pages over a log of a million calls: p95 of each at most 300 ms',
    scenario: 'log-pages',
    subject: 'slowest page',
    figure: 'p95_ms',
    most: 300,
  },
  {
    target: 'Pages: at most 60 kB each, gzipped',
    scenario: 'log-pages',
    subject: 'largest page',
    figure: 'gzip_kb',
    most: 60,
  },
  {
    target: 'CSV of a million calls: at most 8 MB more memory in use while it is sent than before',
    scenario: 'log-pages',
    subject: 'CSV of all',
    figure: 'growth_mb',
    most: 8,
  },
  {
    target: 'Ten million calls in the log: CPU of a call, PostgreSQL included, at most 1.2 × that with none',
    scenario: 'full-log',
    subject: 'full log',
    figure: 'empty_ratio',
    most: 1.2,
  },
  { target: 'Unknown keys: leave no row', scenario: 'unknown-keys', figure: 'unknown_key_rows', most: 0 },
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
  { target, scenario, figure, subject = 'relay', most = Infinity, least = -Infinity }: Limit,
  scenarios: readonly ScenarioResult[],
): Verdict {
  const result = scenarios.find(({ name }) => name === scenario);
  const { [figure]: value, failed = 0 } = figuresOf(result, subject);
  if (value === undefined) return { target, measured: undefined, met: undefined };
  const measured = value.toFixed(Math.max(columnOf(figure).digits, 1));
  if (failed > 0) return { target, measured: `${measured}, with ${failed} failed calls`, met: false };
  return { target, measured, met: value >= least && value <= most };
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
