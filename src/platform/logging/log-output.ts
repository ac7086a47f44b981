import fs from 'node:fs';
import { monotonicMs } from '../shared/index.js';

/** The first line after a pause is written at once; later ones after FLUSH_AT characters or FLUSH_MS. */
const FLUSH_AT = 64 * 1024;
const FLUSH_MS = 100;
/** Max characters that wait for a slow reader; further lines are counted and dropped. */
const MAX_BUFFERED = 4 * 1024 * 1024;
const RETRY_MS = 20;

/**
 * Buffers log lines, because a write costs more than a line, and never blocks on a slow reader. Once the reader is gone,
 * as with a closed terminal, nothing more is written.
 *
 * Not pino's own destination: at exit that one retries a write to a closed terminal without end, and its buffer is not
 * bounded.
 */
export class LogOutput {
  private lines = '';
  private dropped = 0;
  private timer: NodeJS.Timeout | undefined;
  private isWriting = false;
  private flushedMs = -Infinity;
  private isGone = false;

  /**
   * @param atOnce max characters of one write, except for a single longer line
   * @param render turns a JSON line into the line that is written
   */
  constructor(
    private readonly fd: number,
    private readonly atOnce = Infinity,
    private readonly render = (line: string): string => line,
  ) {}

  write(line: string): void {
    if (this.isGone) return;
    if (this.lines.length > MAX_BUFFERED) {
      this.dropped += 1;
      return;
    }
    this.lines += this.render(line);
    if (this.lines.length >= Math.min(FLUSH_AT, this.atOnce) || monotonicMs() - this.flushedMs > FLUSH_MS) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /** Starts writing the buffered lines, unless a write is running: that one continues with them. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushedMs = monotonicMs();
    if (this.isWriting || this.isGone || this.lines === '') return;
    this.isWriting = true;
    this.writeAll(this.take());
  }

  /** At process exit: writes the buffered lines synchronously. */
  end(): void {
    if (this.isGone) return;
    try {
      while (this.lines !== '') fs.writeSync(this.fd, this.take());
    } catch {
      // The reader is gone.
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
    const notice = `{"level":"warn","msg":"${this.dropped} log lines were dropped."}\n`;
    const lines = this.lines + (this.dropped > 0 ? this.render(notice) : '');
    const end = this.endOfWrite(lines);
    this.lines = lines.slice(end);
    this.dropped = 0;
    return Buffer.from(lines.slice(0, end));
  }

  /** The end of the last whole line that fits. */
  private endOfWrite(lines: string): number {
    if (lines.length <= this.atOnce) return lines.length;
    const last = lines.lastIndexOf('\n', this.atOnce - 1);
    return (last >= 0 ? last : lines.indexOf('\n')) + 1 || lines.length;
  }
}
