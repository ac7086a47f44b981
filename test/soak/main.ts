/**
 * The soak: mixed load on the program as it is shipped, while upstreams fail, PostgreSQL and Redis go and come back, and
 * the program itself is started anew. Outside of that nothing may fail, and in the end the books are right.
 * `npm run soak -- --help`
 */

// First: others need it when they are loaded.
import './global-expect.js';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checkBooks } from './books.js';
import { SoakRandom } from './soak-random.js';
import { Clients } from './clients.js';
import { disturb } from './disturbances.js';
import { MemoryWatch } from './memory-watch.js';
import { type Options, readOptions, USAGE } from './options.js';
import { Program } from './program.js';
import { render, type SoakResult, verdictOf } from './result.js';
import { catalogOf, SoakUpstream } from './soak-upstream.js';
import { Windows } from './windows.js';

const RESULTS = join(import.meta.dirname, '../../bench/results');

/** Progress is for whoever waits; the result alone goes to stdout. */
const begunMs = performance.now();
const say = (line: string): void =>
  void process.stderr.write(`${((performance.now() - begunMs) / 1000).toFixed(0)} s: ${line}\n`);

async function run(options: Options): Promise<SoakResult> {
  const startedAt = new Date().toISOString();
  const chance = new SoakRandom(options.seed);
  const upstream = await SoakUpstream.start(new SoakRandom(options.seed + 1));
  const program = await Program.start(options.workers, catalogOf(upstream.server.url));
  try {
    say(`it is at ${program.address}`);
    const windows = new Windows();
    const memory = new MemoryWatch(() => program.memory);
    const target = { address: () => program.address, key: program.key };
    const clients = new Clients(target, windows, new SoakRandom(options.seed + 2), options.clients);
    const breakable = { program, upstream, windows, chance, say };
    const problems = await disturb(breakable, options.minutes * 60_000);
    await clients.stop();
    const remembered = memory.stop();
    say('nobody calls any more');
    const books = await checkBooks(program, clients.whole);
    const { whole, excused, left, complaintCount, complaints } = clients;
    const responses = { whole: whole.size, excused, left, complaintCount, complaints };
    return {
      startedAt,
      options,
      responses,
      faultsPlayed: upstream.faultsPlayed,
      windows: windows.all.map(({ what, detail, fromMs, untilMs }) => ({ what, detail, ms: untilMs - fromMs })),
      memory: remembered,
      books,
      problems,
      logged: program.errors.slice(0, 50),
    };
  } finally {
    await program.close();
    await upstream.server.close();
  }
}

function optionsOrEnd(): Options | 'help' {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

function write(result: SoakResult): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `soak-${result.startedAt.replaceAll(':', '-')}.json`);
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
  return relative(process.cwd(), file);
}

const options = optionsOrEnd();
if (options === 'help') process.stdout.write(USAGE);
else {
  const result = await run(options);
  const reasons = verdictOf(result);
  process.stdout.write(`\n${render(result)}\nWritten to ${write(result)}\n`);
  process.stdout.write(reasons.length === 0 ? 'soak passed\n' : `soak failed: ${reasons.join('; ')}\n`);
  process.exit(reasons.length === 0 ? 0 : 1);
}
