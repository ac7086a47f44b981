// The command line of the benchmark.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { USUAL_FOLDER } from './report/folder.ts';
import { LARGE_NAMES, PEER_NAMES, SCENARIO_NAMES } from './scenarios/names.ts';
import { PROTOCOLS, protocolOf } from './work/protocols.ts';

export interface Options {
  /** Of the scenarios, in the order of a run. */
  readonly scenarios: readonly string[];
  readonly rounds: number;
  /** Short and rough: shows that everything works. */
  readonly quick: boolean;
  readonly peers: boolean;
  readonly profile: boolean;
  /** Folder of files that describe running gateways. */
  readonly gateways: string | undefined;
  /** Of the log, in the scenarios that fill one; undefined: as many as they are about. */
  readonly rows: number | undefined;
  readonly protocol: string;
  /** Of the upstream of translated calls. */
  readonly foreign: string;
  /** The folder for results. */
  readonly out: string;
  readonly arguments: readonly string[];
}

/** Where gateways find the upstream. */
export const PEERS_PORT = 9700;

export const USAGE = `npm run bench -- [SCENARIO…] [options]
npm run bench -- peers DIR [SCENARIO…] [options]

  SCENARIO          ${SCENARIO_NAMES.join(', ')},
                    or what several of them begin with, such as small; all of them but
                    ${LARGE_NAMES.join(' and ')} when left out
  peers DIR         the relay beside running gateways, each described by a JSON file in DIR: its name, address,
                    key and model (bench/README.md); their upstream is http://127.0.0.1:${PEERS_PORT}/v1
  --rounds N        how often each subject has its turn in the scenarios that compare (3)
  --quick           short and rough: one round of a fraction of the time; judges no target
  --no-peers        without the gateway from npm
  --protocol P      ${PROTOCOLS.map(({ id }) => id).join(', ')} (${PROTOCOLS[0]?.id})
  --upstream P      upstream protocol of translated calls (the first that differs from --protocol)
  --rows N          how many calls the log is filled with, in log-pages (1000000) and full-log (10000000)
  --profile         the relay alone, with a CPU profile of it beside the results
  --out FOLDER      where results go (bench/results)
`;

/** Of fewer calls hardly a filter has one. */
const FEWEST_ROWS = 1000;

/** @throws with a line that says what is wrong */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      rows: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'no-peers': { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      protocol: { type: 'string', default: 'chat-completions' },
      upstream: { type: 'string' },
      out: { type: 'string', default: USUAL_FOLDER },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const rounds = Number(values.rounds ?? (values.quick || values.profile ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1 on.');
  const rows = values.rows === undefined ? undefined : Number(values.rows);
  if (rows !== undefined && !(Number.isInteger(rows) && rows >= FEWEST_ROWS))
    throw new Error(`--rows takes a whole number from ${FEWEST_ROWS} on.`);
  const { protocol, upstream: foreign = PROTOCOLS.find(({ id }) => id !== protocol)?.id ?? '' } = values;
  for (const asked of [protocol, foreign]) protocolOf(asked);
  if (foreign === protocol) throw new Error('--upstream must differ from --protocol.');
  const [first, folder, ...others] = positionals;
  if (first === 'peers' && folder === undefined) throw new Error('peers takes a folder.');
  return {
    scenarios: first !== 'peers' ? namesFor(positionals) : others.length > 0 ? namesFor(others) : PEER_NAMES,
    gateways: first === 'peers' ? folder : undefined,
    rounds,
    quick: values.quick,
    peers: !values['no-peers'] && !values.profile && first !== 'peers',
    profile: values.profile,
    rows,
    protocol,
    foreign,
    out: resolve(values.out),
    arguments: args,
  };
}

function namesFor(asked: readonly string[]): readonly string[] {
  const unknown = asked.filter((start) => !SCENARIO_NAMES.some((name) => name.startsWith(start)));
  if (unknown.length > 0)
    throw new Error(`There is no scenario ${unknown.join(', ')}; there are ${SCENARIO_NAMES.join(', ')}.`);
  return SCENARIO_NAMES.filter((name) =>
    asked.length === 0 ? !LARGE_NAMES.includes(name) : asked.some((start) => name.startsWith(start)),
  );
}
