// SQL to the embedded database of a relay, as its operator could speak it: by what stands in DATA_DIR/postgres.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** A session of one's own. End it. */
export async function connect(dataDir: string): Promise<pg.Client> {
  const { port, password } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as {
    readonly port: number;
    readonly password: string;
  };
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' });
  await client.connect();
  return client;
}

/** What a task does its work with. */
export type Task = (session: pg.Client) => Promise<void>;

/** Does all tasks, so many at a time, each session one after the other, in the order given. Begins each with `SET …`. */
export async function inParallel(
  dataDir: string,
  sessions: number,
  settings: string,
  tasks: readonly Task[],
): Promise<void> {
  const waiting = [...tasks];
  await Promise.all(
    Array.from({ length: Math.min(sessions, tasks.length) }, async () => {
      const session = await connect(dataDir);
      try {
        await session.query(settings);
        for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task(session);
      } finally {
        await session.end();
      }
    }),
  );
}
