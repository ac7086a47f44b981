// How much calls with unknown keys slow down valid calls, and whether they leave rows in the call log.
import type { Line, ScenarioResult } from '../report/result.ts';
import { median, sum } from '../report/statistics.ts';
import type { Stage } from '../stage.ts';
import { runCommand } from '../subjects/operator.ts';
import { type RelaySubject, startRelay } from '../subjects/relay.ts';
import { warmUp } from './compared.ts';
import { known, measure, type Segment } from './segment.ts';

const UNKNOWN_KEY_CALLS = 100_000;
const PER_SECOND = 5000;
const ALONE_MS = 5000;
const TURN_MS = 1000;

export async function unknownKeys(stage: Stage): Promise<ScenarioResult> {
  const unknownKeyCalls = stage.options.quick ? UNKNOWN_KEY_CALLS / 20 : UNKNOWN_KEY_CALLS;
  const relay = await startRelay(stage.surroundings);
  try {
    const { figures, notes } = await watch(stage, relay, unknownKeyCalls);
    const title = `Good calls, 16 in flight, while ${unknownKeyCalls} with unknown keys come at ${PER_SECOND} a second`;
    return { name: 'unknown-keys', title, lines: [{ subject: 'relay', figures, rounds: [] }], notes };
  } finally {
    await Promise.all([stage.load, stage.other].map((load) => load.do({ kind: 'release' })));
    await relay.stop();
  }
}

async function watch(
  stage: Stage,
  relay: RelaySubject,
  calls: number,
): Promise<Pick<ScenarioResult, 'notes'> & Pick<Line, 'figures'>> {
  const { target, dataDir } = relay;
  const turn = (forMs: number): Promise<Segment> =>
    measure(stage, relay, { kind: 'calls', target, behaviour: 'answer', promptBytes: 900, inFlight: 16, forMs });
  await warmUp(stage, relay);
  const since = new Date().toISOString();
  const before = await turn(ALONE_MS);
  const during: Segment[] = [];
  const state = { over: false };
  const ended = stage.other
    .do({ kind: 'unknown-keys', target, calls, perSecond: PER_SECOND })
    .finally(() => (state.over = true));
  while (!state.over) during.push(await turn(TURN_MS));
  const { calls: refused, seconds, failure } = await ended;
  const after = await turn(ALONE_MS);
  const made = sum([before, ...during, after].map((segment) => segment.calls));
  const rate = ({ figures }: Segment): number | undefined => figures.calls_per_second;
  const alone = sum([rate(before), rate(after)]) / 2;
  // They end within the last turn.
  const meanwhile = median(during.slice(0, -1).map(rate));
  const figures = known({
    before_per_second: alone,
    during_per_second: meanwhile,
    cost_percent: meanwhile === undefined ? undefined : (1 - meanwhile / alone) * 100,
    unknown_keys_per_second: refused / seconds,
    unknown_key_rows: (await rowsSince(dataDir, since)) - made,
  });
  return { figures, notes: failure === undefined ? [] : [`relay: ${failure}`] };
}

/** In the log of calls, as its export shows them. */
async function rowsSince(dataDir: string, since: string): Promise<number> {
  const csv = await runCommand(dataDir, 'usage', 'export', '--from', since, '--to', '2100-01-01');
  return csv.trimEnd().split('\n').length - 1;
}
