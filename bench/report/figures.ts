// The figures of the report by name: as the result file names them, and as the table heads their columns.

interface Column {
  readonly head: string;
  readonly digits: number;
  /** In the file alone. */
  readonly hidden?: true;
}

const COLUMNS = {
  calls_per_second: { head: 'calls/s', digits: 0 },
  cpu_us: { head: 'CPU µs', digits: 1 },
  event_us: { head: 'µs/event', digits: 2 },
  cpu_ratio: { head: '× proxy', digits: 2 },
  database_us: { head: 'PG µs', digits: 1 },
  both_us: { head: 'both µs', digits: 1 },
  both_ratio: { head: 'both × proxy', digits: 2 },
  empty_ratio: { head: '× empty', digits: 2 },
  one_ratio: { head: '× one', digits: 2 },
  p50_ms: { head: 'p50 ms', digits: 2 },
  p95_ms: { head: 'p95 ms', digits: 0 },
  p99_ms: { head: 'p99 ms', digits: 2 },
  added_p50_ms: { head: '+p50', digits: 2 },
  added_p99_ms: { head: '+p99', digits: 2 },
  first_p50_ms: { head: 'first p50', digits: 2 },
  first_p99_ms: { head: 'first p99', digits: 2 },
  first_ratio: { head: 'first p99/p50', digits: 1 },
  added_first_p50_ms: { head: '+first p50', digits: 2 },
  added_first_p99_ms: { head: '+first p99', digits: 2 },
  gap_p99_ms: { head: 'gap p99 ms', digits: 2 },
  gap_max_ms: { head: 'gap max ms', digits: 1 },
  gap_p99_alone_ms: { head: 'gap p99 alone', digits: 2 },
  lost_events: { head: 'lost', digits: 0 },
  failed: { head: 'failed', digits: 0 },
  rss_mb: { head: 'RSS MB', digits: 0 },
  idle_rss_mb: { head: 'idle RSS MB', digits: 0 },
  busy_percent: { head: 'busy %', digits: 0 },
  load_percent: { head: 'load %', digits: 0 },
  upstream_percent: { head: 'upstream %', digits: 0, hidden: true },
  database_percent: { head: 'PG %', digits: 0, hidden: true },
  foreign_percent: { head: 'foreign %', digits: 0 },
  kb_per_stream: { head: 'kB/stream', digits: 1 },
  heap_kb_per_stream: { head: 'heap kB/stream', digits: 1 },
  mb_per_client: { head: 'RSS MB/client', digits: 2 },
  written_mb_per_client: { head: 'sent MB/client', digits: 1 },
  still_writing_kb: { head: 'kB/s/client still sent', digits: 1 },
  before_per_second: { head: 'calls/s alone', digits: 0 },
  during_per_second: { head: 'calls/s during', digits: 0 },
  cost_percent: { head: 'cost %', digits: 1 },
  unknown_keys_per_second: { head: 'unknown keys/s', digits: 0 },
  unknown_key_rows: { head: 'rows of unknown keys', digits: 0 },
  loop_p99_ms: { head: 'loop p99 ms', digits: 1 },
  loop_max_ms: { head: 'loop max ms', digits: 1 },
  byte_p95_ms: { head: 'first byte p95', digits: 0 },
  gzip_kb: { head: 'gzip kB', digits: 1 },
  rows: { head: 'rows', digits: 0 },
  seconds: { head: 's', digits: 1 },
  mb: { head: 'MB', digits: 1 },
  growth_mb: { head: 'growth MB', digits: 1 },
  large_calls: { head: 'large calls', digits: 0 },
} as const satisfies Record<string, Column>;

export type FigureName = keyof typeof COLUMNS;
export const columnOf = (name: FigureName): Column => COLUMNS[name];
export type Figures = Readonly<Partial<Record<FigureName, number | undefined>>>;

export const FIGURE_NAMES = Object.keys(COLUMNS) as readonly FigureName[];
