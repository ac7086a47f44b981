import fc from 'fast-check';
import { BackupReader } from './restore.js';

/** The text in pieces of these lengths, one after the other, again and again. */
async function* inPieces(text: string, lengths: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

const all = async (pieces: AsyncIterable<Buffer>): Promise<string> => {
  const read: Buffer[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
};

describe('reading tables of a backup', () => {
  // As PostgreSQL writes rows: a backslash within a value is doubled, so that no row is `\.`.
  const row = fc.constantFrom('', '1\tAnn', String.raw`\\.`, String.raw`x\\.`, 'ä\tö', '.');
  const rows = fc.array(row, { maxLength: 6 });

  it('does not depend on chunk boundaries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rows, { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        async (tables, lengths) => {
          const texts = tables.map((lines) => lines.map((line) => `${line}\n`).join(''));
          const body = texts.map((text, index) => `COPY ${index}\n${text}\\.\n`).join('');
          const reader = new BackupReader(inPieces(body, lengths));
          for (const [index, text] of texts.entries()) {
            expect(await reader.line()).toBe(`COPY ${index}`);
            expect(await all(reader.rows())).toBe(text);
          }
        },
      ),
    );
  });

  it('rejects a file that ends within a table', async () => {
    const reader = new BackupReader(inPieces('COPY a\n1\n2\n', [4]));
    await reader.line();
    await expect(all(reader.rows())).rejects.toThrow('ends before its last row');
  });
});
