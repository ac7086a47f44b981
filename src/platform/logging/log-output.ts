import fs from 'node:fs';
import { monotonicMs } from '../shared/index.js';

/** A line behind a pause is written at once; what follows, when so many characters or milliseconds have passed. */
const FLUSH_AT = 8 * 1024;
const FLUSH_MS = 100;
/** What a reader that does not read may leave unwritten, in characters; lines beyond it are counted and dropped. */
const MAX_BUFFERED = 4 * 1024 * 1024;
const RETRY_MS = 20;

/**
 * Where log lines go: together, because a write costs more than a line, and without ever waiting for whoever reads them.
 * When that is gone, as a closed terminal is, nothing is written any more: who logs is not at fault.
 *
 * Not pino's own destination: that one writes to a closed terminal again and again, without end, when the process exits,
 * and keeps in memory all that nobody reads.
 */
export class LogOutput {
  private lines = '';
  private dropped = 0;
  private timer: NodeJS.Timeout | undefined;
  private isWriting = false;
  private flushedMs = -Infinity;
  private isGone = false;

  /** @param atOnce the most characters of one write, a single line apart; the rest follows */
  constructor(
    private readonly fd: number,
    private readonly atOnce = Infinity,
  ) {}

  write(line: string): void {
    if (this.isGone) return;
    if (this.lines.length > MAX_BUFFERED) {
      this.dropped += 1;
      return;
    }
    this.lines += line;
    if (this.lines.length >= Math.min(FLUSH_AT, this.atOnce) || monotonicMs() - this.flushedMs > FLUSH_MS) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /** Begins to write what there is, unless a write is under way: then that goes on with it. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushedMs = monotonicMs();
    if (this.isWriting || this.isGone || this.lines === '') return;
    this.isWriting = true;
    this.writeAll(this.take());
  }

  /** For the end of the process: writes at once what can be. */
  end(): void {
    if (this.isGone) return;
    try {
      while (this.lines !== '') fs.writeSync(this.fd, this.take());
    } catch {
      // Nobody reads it any more.
    }
  }

  private writeAll(bytes: Buffer): void {
    fs.write(this.fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(() => this.writeAll(bytes), RETRY_MS).unref();
      else if (error) this.giveUp();
      else if (written < bytes.length) this.writeAll(bytes.subarray(written));
      else this.goOn();
    });
  }

  private goOn(): void {
    this.isWriting = false;
    if (this.lines.length >= Math.min(FLUSH_AT, this.atOnce)) this.flush();
    else if (this.lines !== '') this.timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  private giveUp(): void {
    this.isGone = true;
    this.lines = '';
  }

  private take(): Buffer {
    const told = this.dropped > 0 ? `{"level":"warn","msg":"${this.dropped} log lines were dropped."}\n` : '';
    const lines = this.lines + told;
    const end = this.endOfWrite(lines);
    this.lines = lines.slice(end);
    this.dropped = 0;
    return Buffer.from(lines.slice(0, end));
  }

  /** Behind a whole line. */
  private endOfWrite(lines: string): number {
    if (lines.length <= this.atOnce) return lines.length;
    const last = lines.lastIndexOf('\n', this.atOnce - 1);
    return (last >= 0 ? last : lines.indexOf('\n')) + 1 || lines.length;
  }
}
