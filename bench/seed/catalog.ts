// The catalog that seeded calls were made under, and what the relay writes of a real call under it: one call for each
// model and group, whose prices all seeded calls of that model and group are then written with.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SubjectContext } from '../subjects/subject.ts';
import { runCommand } from '../subjects/operator.ts';
import { modelFor } from '../work/behaviours.ts';
import { connect } from './database.ts';
import { CHOICES, COST_SHARE, GROUPS, MAIN_CHANNEL, MODELS } from './world.ts';

const LOOK_MS = 100;
const MOST_LOOKS = 100;

/** What the row of a call has of its model and group. Prices in dollars per million tokens. */
export interface Sample {
  readonly model: string;
  readonly group_name: string;
  readonly protocol: string;
  readonly upstream_model: string;
  readonly cost_version: string | null;
  readonly snapshot: object;
}

/** Adds models, groups and channels to those that are there. */
export async function applyCatalog(dataDir: string, { upstream, protocol }: SubjectContext): Promise<void> {
  const file = join(dataDir, 'log-catalog.yaml');
  const names = MODELS.map(({ value }) => value);
  const ofEach = <T>(what: T): Record<string, T> => Object.fromEntries(names.map((name) => [name, what]));
  const channels = CHOICES.channels.map(({ value: name }, index) => ({
    name,
    protocol: protocol.id,
    base_url: `${upstream}/v1`,
    credentials: ['upstream-secret-of-the-benchmark'],
    models: ofEach(modelFor('answer')),
    groups: Object.keys(GROUPS),
    tier: index + 1,
    ...(name === MAIN_CHANNEL && { costs: ofEach(COST_SHARE) }),
  }));
  const models = names.map((name, index) => ({
    name,
    context_window: 400_000,
    max_output_tokens: 64_000,
    groups: Object.keys(GROUPS),
    capabilities: ['tools', 'reasoning'],
    prices: [{ input: 4 - index / 2, cache_read: (4 - index / 2) / 10, output: 24 - index * 3 }],
  }));
  const groups = Object.entries(GROUPS).map(([name, multiplier]) => ({ name, multiplier }));
  // YAML is a superset of JSON.
  writeFileSync(file, JSON.stringify({ groups, models, channels }));
  await runCommand(dataDir, 'catalog', 'apply', file);
}

/** Calls every model in every group. @param email an account that can pay for them */
export async function takeSamples(
  dataDir: string,
  origin: string,
  email: string,
  { protocol }: SubjectContext,
): Promise<readonly Sample[]> {
  const request = JSON.parse(protocol.request('answer', 900).toString()) as object;
  for (const group of Object.keys(GROUPS)) {
    const key = await runCommand(dataDir, 'key', 'create', '--email', email, '--name', group, '--group', group);
    for (const { value: model } of MODELS) {
      const response = await fetch(`${origin}/v1${protocol.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...protocol.headers(key.trim()) },
        body: JSON.stringify({ ...request, model }),
      });
      if (!response.ok) throw new Error(`A call of ${model} failed: ${await response.text()}`);
      await response.arrayBuffer();
    }
  }
  return settled(dataDir, MODELS.length * Object.keys(GROUPS).length);
}

const SAMPLES = `
  SELECT c.model, c.group_name, c.protocol, a.upstream_model, a.cost_version, c.snapshot
    FROM calls c JOIN call_attempts a ON a.call_id = c.id AND a.created_at = c.created_at
   WHERE c.status = 'succeeded' AND c.model = ANY ($1)`;

/** Calls are settled a moment after they were answered. */
async function settled(dataDir: string, calls: number): Promise<readonly Sample[]> {
  const session = await connect(dataDir);
  try {
    for (let tries = 0; tries < MOST_LOOKS; tries++) {
      const { rows } = await session.query<Sample>(SAMPLES, [MODELS.map(({ value }) => value)]);
      if (rows.length === calls) return rows;
      await sleep(LOOK_MS);
    }
    throw new Error(`Fewer than ${calls} calls were settled.`);
  } finally {
    await session.end();
  }
}
