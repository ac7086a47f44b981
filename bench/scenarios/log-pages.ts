// What pages take at the server when one account has a million calls in its log, and what all of them take as CSV.
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Visitor } from '../load/visitor.ts';
import { pinTree } from '../machine/cores.ts';
import { untilIdle } from '../machine/idle.ts';
import type { Figures } from '../report/figures.ts';
import type { Line, ScenarioResult } from '../report/result.ts';
import { percentile } from '../report/statistics.ts';
import { createAccount, fill, PASSWORD } from '../seed/seeded-relay.ts';
import { lastDays } from '../seed/spans.ts';
import { KEYS } from '../seed/world.ts';
import type { Stage } from '../stage.ts';
import { startRelay } from '../subjects/relay.ts';
import { watched } from '../subjects/watched.ts';
import { csvLines } from './log-csv.ts';
import { accountPages, EVERYTHING, operatorPages, type LogPage } from './log-page-list.ts';
import { known } from './segment.ts';

const ROWS = 1_000_000;
const QUICK_ROWS = 20_000;
const DAYS = 30;
const REQUESTS = 50;
const QUICK_REQUESTS = 2;
/** Before they count: the first ones have V8 compile what a page runs through. */
const WARM_UP = 3;
const AT_ONCE_MS = 1500;
const SUMMED_UP_WITHIN_S = 600;
const SUMMED_UP = { quietMs: 70_000, withinMs: 10 * 60_000 };

const USER = { email: 'log@example.com', password: PASSWORD };
const OPERATOR = { email: 'operator@example.com', password: PASSWORD };

export async function logPages(stage: Stage): Promise<ScenarioResult> {
  const { quick, rows = quick ? QUICK_ROWS : ROWS } = stage.options;
  const { cores } = stage.surroundings;
  const relay = await startRelay({ ...stage.surroundings, cores: undefined }, watched());
  const [user, operator] = [new Visitor(relay.target.origin), new Visitor(relay.target.origin)];
  try {
    const { keys, seconds } = await fill(stage, relay, [{ ...USER, keys: KEYS }], lastDays(DAYS, rows));
    await createAccount(relay.dataDir, OPERATOR, ['--admin']);
    // A page and its database have the machine, as they would.
    if (cores) for (const pid of [relay.pid, relay.databasePid]) if (pid !== undefined) pinTree(pid, cores.all);
    await user.signIn(USER.email, USER.password);
    await operator.signIn(OPERATOR.email, OPERATOR.password);
    await summedUp(user);
    const settled = quick || (await untilIdle(relay.databasePid ?? 0, SUMMED_UP));
    const lines = await measured(user, await accountPages(user, keys), quick);
    lines.push(...(await measured(operator, operatorPages(), quick)));
    return {
      name: 'log-pages',
      title: `Pages over a log of ${rows} calls of one account in ${DAYS} days, one request at a time`,
      lines: [
        { subject: 'filling the log', figures: { rows, seconds }, rounds: [] },
        ...lines,
        ...extremes(lines),
        ...(await csvLines(user, relay, DAYS)),
      ],
      notes: settled ? [] : ['The database was still busy with the full log.'],
    };
  } finally {
    user.leave();
    operator.leave();
    await relay.stop();
  }
}

/** Waits until the page of all calls comes at once: what it is made of is summed up first. @throws after ten minutes */
async function summedUp(user: Visitor): Promise<void> {
  const begunAt = performance.now();
  const seconds = (): number => (performance.now() - begunAt) / 1000;
  while (seconds() < SUMMED_UP_WITHIN_S) {
    const { status, lastMs } = await user.take(EVERYTHING);
    if (status === 200 && lastMs < AT_ONCE_MS) return;
    await sleep(AT_ONCE_MS / 10);
  }
  throw new Error(`The page of all calls does not come within ${AT_ONCE_MS / 1000} s.`);
}

async function measured(visitor: Visitor, pages: readonly LogPage[], quick: boolean): Promise<Line[]> {
  const lines: Line[] = [];
  for (const { name, path } of pages)
    lines.push({ subject: name, figures: await visits(visitor, path, quick), rounds: [] });
  return lines;
}

async function visits(visitor: Visitor, path: string, quick: boolean): Promise<Figures> {
  let text = '';
  for (let visit = 0; visit < (quick ? 1 : WARM_UP); visit++) ({ text } = await visitor.read(path));
  const times = { first: [] as number[], last: [] as number[] };
  for (let visit = 0; visit < (quick ? QUICK_REQUESTS : REQUESTS); visit++) {
    const { status, firstMs, lastMs } = await visitor.take(path);
    if (status !== 200) throw new Error(`${path} was answered with ${status}.`);
    times.first.push(firstMs);
    times.last.push(lastMs);
  }
  const last = Float64Array.from(times.last);
  return known({
    p50_ms: percentile(last, 50),
    p95_ms: percentile(last, 95),
    byte_p95_ms: percentile(Float64Array.from(times.first), 95),
    gzip_kb: gzipSync(text).length / 1024,
  });
}

/** What the targets are about. */
function extremes(lines: readonly Line[]): readonly Line[] {
  const most = (figure: 'p95_ms' | 'gzip_kb'): Figures => ({
    [figure]: Math.max(...lines.map(({ figures }) => figures[figure] ?? Number.NaN)),
  });
  return [
    { subject: 'slowest page', figures: most('p95_ms'), rounds: [] },
    { subject: 'largest page', figures: most('gzip_kb'), rounds: [] },
  ];
}
