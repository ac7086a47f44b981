// The months that seeded calls lie in. They are loaded into tables of their own, without indexes and triggers, which then
// take the place of the empty partitions: many times as fast, and what is left is what the program would have left.
import type pg from 'pg';
import type { Task } from './database.ts';
import type { LoadTables } from './calls.sql.ts';

/** So many calls, evenly over a span of time within one month of UTC. In ms; `to` is behind the last. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly rows: number;
}

const PARENTS = ['calls', 'call_attempts'] as const;

export class LoadedMonth {
  readonly name: string;
  private readonly first: Date;
  private readonly next: Date;

  /** @param moment any time in it */
  constructor(moment: number) {
    const [year, month] = [new Date(moment).getUTCFullYear(), new Date(moment).getUTCMonth()];
    this.first = new Date(Date.UTC(year, month));
    this.next = new Date(Date.UTC(year, month + 1));
    this.name = this.first.toISOString().slice(0, 7).replace('-', '_');
  }

  get tables(): LoadTables {
    return { calls: loading(`calls_${this.name}`), attempts: loading(`call_attempts_${this.name}`) };
  }

  /** Makes the partition if there is none, and the tables for the load, with what was already written in the month. */
  async begin(session: pg.Client): Promise<void> {
    await session.query('SELECT create_call_partitions($1, 0)', [this.first]);
    const bounds = `created_at >= '${this.first.toISOString()}' AND created_at < '${this.next.toISOString()}'`;
    for (const parent of PARENTS) {
      const table = loading(`${parent}_${this.name}`);
      await session.query(
        `CREATE TABLE ${table} (LIKE ${parent} INCLUDING ALL EXCLUDING INDEXES, CONSTRAINT in_month CHECK (${bounds}))`,
      );
      await session.query(`INSERT INTO ${table} SELECT * FROM ${parent}_${this.name}`);
    }
  }

  /** Each makes one index as the parent has it, so that a partition that is put in place has all of them. */
  async indexing(session: pg.Client): Promise<readonly Task[]> {
    const { rows } = await session.query<{ parent: string; key: string | null; definition: string }>(`
      SELECT i.indrelid::regclass::text AS parent, pg_get_constraintdef(c.oid) AS key, pg_get_indexdef(i.indexrelid) AS definition
        FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid
       WHERE i.indrelid IN ('calls'::regclass, 'call_attempts'::regclass)`);
    return rows.map(({ parent, key, definition }) => {
      const table = loading(`${parent}_${this.name}`);
      const statement =
        key === null
          ? definition.replace(/^CREATE INDEX \S+ ON (?:ONLY )?\S+/, `CREATE INDEX ON ${table}`)
          : `ALTER TABLE ${table} ADD ${key}`;
      return async (own) => void (await own.query(statement));
    });
  }

  /** In one transaction with whatever else must be seen together with the calls. */
  async putInPlace(session: pg.Client): Promise<void> {
    for (const parent of PARENTS) {
      const name = `${parent}_${this.name}`;
      const bounds = `FROM ('${this.first.toISOString()}') TO ('${this.next.toISOString()}')`;
      await session.query(`ALTER TABLE ${parent} DETACH PARTITION ${name}`);
      await session.query(`DROP TABLE ${name}`);
      await session.query(`ALTER TABLE ${loading(name)} RENAME TO ${name}`);
      await session.query(`ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES ${bounds}`);
      await session.query(`ALTER TABLE ${name} DROP CONSTRAINT in_month`);
    }
  }
}

const loading = (table: string): string => `${table}_loading`;
