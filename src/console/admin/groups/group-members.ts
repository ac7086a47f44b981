import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** How many members are listed by name; the rest are counted. */
const NAMED = 10;

/** Number of accounts and keys that are billed to a group, without deleted ones. */
export interface Members {
  readonly users: number;
  /** Keys with this group, or without a group and owned by one of its users. */
  readonly keys: number;
}

/** The first members, by name. */
export interface NamedMembers {
  readonly users: readonly { readonly id: string; readonly email: string }[];
  readonly keys: readonly { readonly name: string; readonly accountId: string; readonly email: string }[];
}

/** Reads the users and keys of groups. */
@Injectable()
export class GroupMembers {
  constructor(private readonly dataSource: DataSource) {}

  /** By group name; groups without members are absent. */
  async all(): Promise<ReadonlyMap<string, Members>> {
    const rows = await this.dataSource.query<(Members & { readonly name: string })[]>(`
      SELECT name, sum(users)::integer AS users, sum(keys)::integer AS keys FROM (
        SELECT coalesce(group_name, 'default') AS name, count(*) AS users, 0 AS keys
          FROM accounts WHERE state <> 'deleted' GROUP BY 1
        UNION ALL
        SELECT coalesce(k.group_name, a.group_name, 'default'), 0, count(*)
          FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.state <> 'deleted' GROUP BY 1
      ) counted GROUP BY name`);
    return new Map(rows.map(({ name, users, keys }) => [name, { users, keys }]));
  }

  /** Users sorted by email address; keys by name, then by user. */
  async named(group: string): Promise<NamedMembers> {
    const [users, keys] = await Promise.all([
      this.dataSource.query<NamedMembers['users']>(
        `SELECT id, email FROM accounts WHERE state <> 'deleted' AND coalesce(group_name, 'default') = $1
          ORDER BY email LIMIT ${NAMED}`,
        [group],
      ),
      this.dataSource.query<NamedMembers['keys']>(
        `SELECT k.name, a.id AS "accountId", a.email FROM api_keys k JOIN accounts a ON a.id = k.account_id
          WHERE k.state <> 'deleted' AND coalesce(k.group_name, a.group_name, 'default') = $1
          ORDER BY k.name, a.email, k.id LIMIT ${NAMED}`,
        [group],
      ),
    ]);
    return { users, keys };
  }
}
