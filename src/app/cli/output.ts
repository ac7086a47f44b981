import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Prints a result. Nothing else goes to stdout. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One JSON object, for `--json`. */
export function printJson(result: Readonly<Record<string, unknown>>): void {
  printLine(JSON.stringify(result));
}

/** Lines of cells, padded to columns. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

/** Writes text to stdout with back-pressure. */
export async function printStream(text: AsyncIterable<string>): Promise<void> {
  await pipeline(Readable.from(text), process.stdout, { end: false });
}
