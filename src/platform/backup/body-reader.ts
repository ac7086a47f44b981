import { END_OF_ROWS } from './backup-format.js';

const LINE_END = 10;

/** Reads the lines of a backup, and the rows of its tables, as they come out of the compressed part. */
export class BodyReader {
  private readonly pieces: AsyncIterator<Buffer>;
  /** What has been read and not given out; begins at the beginning of a line. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.pieces = source[Symbol.asyncIterator]();
  }

  /** The next line, without its end. @throws TypeError where there is none */
  async line(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf(LINE_END);
      if (end >= 0) return this.take(end + 1).toString('utf8', 0, end);
      await this.readOn();
    }
  }

  /** Whole rows, many at a time, up to the line that ends them, which is not given out. @throws TypeError without it */
  async *rows(): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const end = this.endOfRows();
      if (end !== undefined) {
        if (end > 0) yield this.take(end);
        this.take(END_OF_ROWS.length);
        return;
      }
      const whole = this.rest.lastIndexOf(LINE_END) + 1;
      if (whole > 0) yield this.take(whole);
      await this.readOn();
    }
  }

  /** Where the line that ends the rows begins, if it has been read. */
  private endOfRows(): number | undefined {
    if (this.rest.subarray(0, END_OF_ROWS.length).equals(Buffer.from(END_OF_ROWS))) return 0;
    const before = this.rest.indexOf(`\n${END_OF_ROWS}`);
    return before < 0 ? undefined : before + 1;
  }

  private take(bytes: number): Buffer {
    const taken = this.rest.subarray(0, bytes);
    this.rest = this.rest.subarray(bytes);
    return taken;
  }

  private async readOn(): Promise<void> {
    const { done, value } = await this.pieces.next();
    if (done === true) throw new TypeError('The backup ends before its last row.');
    this.rest = Buffer.concat([this.rest, value]);
  }
}
