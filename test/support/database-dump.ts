/** Every row of every table, as text; bytes as hexadecimal digits. */
export async function dumpOf(query: (sql: string) => Promise<unknown[]>): Promise<string> {
  const tables = (await query(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )) as { name: string }[];
  const lines: string[] = [];
  for (const { name } of tables)
    for (const { row } of (await query(`SELECT entry::text AS row FROM ${name} AS entry`)) as { row: string }[])
      lines.push(row);
  return lines.join('\n');
}
