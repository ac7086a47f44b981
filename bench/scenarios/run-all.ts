// Runs the scenarios that were asked for: those that compare, on subjects that all of them share, then the others.
import { setTimeout as sleep } from 'node:timers/promises';
import { rssOf } from '../machine/memory.ts';
import type { ScenarioResult } from '../report/result.ts';
import type { Stage } from '../stage.ts';
import { gatewaysIn } from '../subjects/gateways.ts';
import type { Subject } from '../subjects/subject.ts';
import { compare, warmUp } from './compared.ts';
import { INSIDE } from './inside.ts';
import { COMPARED_SCENARIO_NAMES, RELAY_SCENARIO_NAMES } from './names.ts';
import { known } from './segment.ts';

/** What a program does right after its start is not idling. */
const SETTLES_MS = 3000;

export async function runAll(stage: Stage, say: (line: string) => void): Promise<readonly ScenarioResult[]> {
  const { scenarios } = stage.options;
  const results: ScenarioResult[] = [];
  if (COMPARED_SCENARIO_NAMES.some((name) => scenarios.includes(name))) results.push(...(await compareAll(stage, say)));
  for (const name of RELAY_SCENARIO_NAMES.filter((asked) => scenarios.includes(asked))) {
    say(name);
    results.push(await INSIDE[name](stage));
  }
  return results;
}

async function compareAll(stage: Stage, say: (line: string) => void): Promise<readonly ScenarioResult[]> {
  say('starting');
  const subjects: Subject[] = [];
  try {
    for (const name of stage.names) subjects.push(await stage.start(name));
    subjects.push(...gatewaysIn(stage.options.gateways));
    await sleep(stage.options.quick ? SETTLES_MS / 3 : SETTLES_MS);
    const idle = subjects.map(rssMb);
    say('warming up');
    for (const subject of subjects) await warmUp(stage, subject);
    const results: ScenarioResult[] = [];
    for (const name of COMPARED_SCENARIO_NAMES.filter((asked) => stage.options.scenarios.includes(asked))) {
      say(name);
      results.push(await compare(name, stage, subjects));
    }
    return [...results, memory(subjects, idle)];
  } finally {
    for (const subject of subjects) await subject.stop();
  }
}

const rssMb = ({ pid }: Subject): number | undefined => {
  const kb = pid === undefined ? undefined : rssOf(pid);
  return kb === undefined ? undefined : kb / 1024;
};

function memory(subjects: readonly Subject[], idle: readonly (number | undefined)[]): ScenarioResult {
  const lines = subjects
    .map((subject, index) => ({
      subject: subject.name,
      figures: known({ idle_rss_mb: idle[index], rss_mb: rssMb(subject) }),
      rounds: [],
    }))
    .filter(({ subject }) => subject !== 'direct');
  return { name: 'memory', title: 'Resident memory after the start and after all of the above', lines, notes: [] };
}
