// The benchmark: measures the relay as shipped beside a bare proxy, the upstream itself and another gateway, and
// compares what it finds with the targets. Uses the program from outside only. `npm run bench -- --help`
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { relative } from 'node:path';
import { endAll } from './machine/child.ts';
import { NoiseMeter } from './machine/noise.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { writeResult } from './report/folder.ts';
import { foreignPercent, proxySpreadPercent } from './report/noise.ts';
import type { Result } from './report/result.ts';
import { renderResult } from './report/table.ts';
import { judge } from './report/targets.ts';
import { runAll } from './scenarios/run-all.ts';
import { Stage } from './stage.ts';

/** Progress is for whoever waits; the result alone goes to stdout. */
const say = (line: string): void => console.error(`… ${line}`);

async function run(options: Options): Promise<void> {
  const startedAt = new Date();
  const noise = new NoiseMeter();
  const stage = await Stage.set(options);
  if (stage.notPinned !== undefined) say(`nothing is pinned, because ${stage.notPinned}`);
  const scenarios = await runAll(stage, say);
  const { loadAverageBefore, stolenPercent } = noise.read();
  await stage.clear();
  const [firstCpu] = cpus();
  const result: Result = {
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    commit: commit(),
    node: process.version,
    machine: { cpu: firstCpu?.model ?? '', cores: cpus().length, memoryMb: Math.round(totalmem() / 1024 / 1024) },
    pinned: stage.notPinned === undefined,
    peer: stage.peer,
    arguments: options.arguments,
    noise: {
      loadAverageBefore,
      stolenPercent,
      foreignPercent: foreignPercent(scenarios),
      proxySpreadPercent: proxySpreadPercent(scenarios),
    },
    scenarios,
    targets: judge(scenarios, options),
  };
  const file = writeResult(options.out, result);
  process.stdout.write(`\n${renderResult(result)}\nWritten to ${relative(process.cwd(), file)}\n`);
}

/** Undefined outside a checkout. */
function commit(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    }).trim();
  } catch {
    return undefined;
  }
}

function optionsOrEnd(): Options | 'help' {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(2);
  }
}

const options = optionsOrEnd();
if (options === 'help') process.stdout.write(USAGE);
else
  try {
    await run(options);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await endAll();
  }
