// Whether calls become dearer when the log is full: two relays, one with nothing in its log and one with ten million calls,
// do the same work in turn.
import { untilIdle } from '../machine/idle.ts';
import type { FigureName, Figures } from '../report/figures.ts';
import type { Line, ScenarioResult } from '../report/result.ts';
import { fill, PASSWORD } from '../seed/seeded-relay.ts';
import { mostlyThisMonth } from '../seed/spans.ts';
import type { Stage } from '../stage.ts';
import { type RelaySubject, startRelay } from '../subjects/relay.ts';
import { medians, warmUp } from './compared.ts';
import { known, measure } from './segment.ts';

const ROWS = 10_000_000;
const QUICK_ROWS = 20_000;
const MONTHS_BEFORE = 3;
const TURN_MS = 5000;
/** Whatever the program does in the background with a log that it finds full is not the price of a call. */
const SUMMED_UP = { quietMs: 90_000, withinMs: 30 * 60_000 };

const SPENDERS = ['ann', 'bob', 'eve'].map((name) => ({
  email: `${name}@example.com`,
  password: PASSWORD,
  keys: [{ value: name, share: 1 }],
}));

interface Turns {
  readonly subject: string;
  readonly relay: RelaySubject;
  readonly rounds: Figures[];
}

export async function fullLog(stage: Stage): Promise<ScenarioResult> {
  const { quick, rows = quick ? QUICK_ROWS : ROWS, rounds } = stage.options;
  const relays: RelaySubject[] = [];
  try {
    for (let number = 0; number < 2; number++) relays.push(await startRelay(stage.surroundings));
    const [empty, full] = relays;
    if (empty === undefined || full === undefined) throw new Error('Two relays are needed.');
    const { seconds } = await fill(stage, full, SPENDERS, mostlyThisMonth(MONTHS_BEFORE, rows));
    const settled = quick || (await untilIdle(full.databasePid ?? 0, SUMMED_UP));
    const turns: readonly Turns[] = [
      { subject: 'empty log', relay: empty, rounds: [] },
      { subject: 'full log', relay: full, rounds: [] },
    ];
    const notes = await inTurn(stage, turns, rounds);
    return {
      name: 'full-log',
      title: `Small JSON calls, 16 in flight, with nothing and with ${rows} calls in the log`,
      lines: [{ subject: 'filling the log', figures: { rows, seconds }, rounds: [] }, ...linesOf(turns)],
      notes: settled ? notes : [...notes, 'The database was still busy with the full log.'],
    };
  } finally {
    for (const relay of relays) await relay.stop();
  }
}

/** @returns why calls failed, if any did */
async function inTurn(stage: Stage, turns: readonly Turns[], rounds: number): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const { relay } of turns) await warmUp(stage, relay);
  for (let round = 0; round < rounds; round++)
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) {
      const { figures, failure } = await oneTurn(stage, turn.relay);
      turn.rounds.push(figures);
      if (failure !== undefined) notes.push(`${turn.subject}: calls failed: ${failure}`);
    }
  return notes;
}

async function oneTurn(
  stage: Stage,
  relay: RelaySubject,
): Promise<{ readonly figures: Figures; readonly failure: string | undefined }> {
  const forMs = stage.options.quick ? TURN_MS / 20 : TURN_MS;
  const job = { kind: 'calls', target: relay.target, behaviour: 'answer', promptBytes: 900, inFlight: 16 } as const;
  await stage.load.do({ ...job, forMs: forMs / 5 });
  const { figures, failure } = await measure(stage, relay, { ...job, forMs });
  await stage.load.do({ kind: 'release' });
  const both_us = (figures.cpu_us ?? Number.NaN) + (figures.database_us ?? Number.NaN);
  return { figures: known({ ...withoutStreams(figures), both_us }), failure };
}

/** Each beside the empty log in the same round. */
function linesOf(turns: readonly Turns[]): readonly Line[] {
  const empty = turns[0]?.rounds ?? [];
  return turns.map(({ subject, rounds }, index) => {
    const compared = rounds.map((figures, round) =>
      index === 0
        ? figures
        : known({ ...figures, empty_ratio: (figures.both_us ?? Number.NaN) / (empty[round]?.both_us ?? Number.NaN) }),
    );
    return { subject, rounds: compared, figures: medians(compared) };
  });
}

const OF_STREAMS: readonly FigureName[] = ['first_p50_ms', 'first_p99_ms', 'gap_p99_ms', 'gap_max_ms', 'lost_events'];

const withoutStreams = (figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).filter(([name]) => !OF_STREAMS.includes(name as FigureName)));
