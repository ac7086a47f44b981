import type { LoggerService } from '@nestjs/common';
import fs from 'node:fs';
import { type Logger as Pino, pino } from 'pino';
import { monotonicMs } from '../shared/index.js';
import { isWorker } from '../workers/index.js';

/** Contexts that log how Nest assembles the application: debug output. */
const FRAMEWORK = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Contexts that log a failed start, which is also thrown and printed as one line. */
const STARTING = new Set(['ExceptionHandler', 'NestApplication', 'TypeOrmModule']);

/**
 * Bytes that a pipe writes atomically (PIPE_BUF, less a margin for characters outside ASCII): lines of several workers
 * are not interleaved.
 */
const WHOLE_WRITE = 4000;

/** `auto`: text on a terminal, else JSON. */
type LogFormat = 'auto' | 'json' | 'text';

/**
 * Nest's logger over pino: one line per entry on stdout, with the pid in workers. A message is a string, or an object
 * whose members become fields of the line, optionally followed by a string. Entries never contain bodies, headers or keys.
 */
export class PinoLogger implements LoggerService {
  private readonly pino: Pino;
  private readonly output: LogOutput;

  constructor(level: string, format: LogFormat) {
    const isText = format === 'text' || (format === 'auto' && process.stdout.isTTY);
    const atOnce = isWorker ? WHOLE_WRITE : Infinity;
    this.output = new LogOutput(process.stdout.fd, atOnce, isText ? renderTextLine : undefined);
    const options = {
      level,
      base: isWorker ? { pid: process.pid } : null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { err: loggedError },
    };
    this.pino = pino(options, this.output);
    process.once('exit', () => this.output.end());
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write(STARTING.has(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
    this.output.flush();
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
    this.output.flush();
  }

  /** Nest appends the context, the name of the logger, as the last argument. */
  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    if (message instanceof Error) this.pino[level]({ context, err: message });
    else if (typeof message === 'object' && message !== null)
      this.pino[level]({ context, ...message }, rest.length > 1 ? String(rest[0]) : undefined);
    else this.pino[level]({ context, ...(rest.length > 1 && { detail: rest.slice(0, -1) }) }, String(message));
  }
}

/** A log entry's error, with its causes. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  /** Of the system or PostgreSQL, with the violated constraint. */
  readonly code?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly cause?: LoggedError;
}

/** Identifiers of the schema and of error kinds. Any other field may contain user input. */
const NAMES = ['code', 'constraint', 'table'] as const;
/** Causes can form a cycle. */
const MAX_CAUSES = 5;

/**
 * Reduces an error to fields that are safe to log. A failed query carries its text and parameters, and PostgreSQL's
 * detail quotes the row: email addresses, password hashes.
 */
export function loggedError(thrown: unknown, causes = MAX_CAUSES): LoggedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) };
  const { message, stack, cause } = thrown;
  return {
    type: thrown.constructor.name,
    message,
    ...(stack !== undefined && { stack }),
    ...Object.fromEntries(NAMES.map((name) => [name, textIn(thrown, name)]).filter(([, text]) => text !== undefined)),
    ...(cause !== undefined && causes > 0 && { cause: loggedError(cause, causes - 1) }),
  };
}

function textIn(thrown: object, name: string): string | undefined {
  const value = (thrown as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}

/** Values that are readable without quotes; others are printed as JSON strings. */
const PLAIN = /^[\w.:/@+#%-]+$/;
/** Control and formatting characters, which a terminal would interpret instead of showing them. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Renders one JSON log line for a terminal: time, level, message, then the other fields as `key=value`. Fields that are
 * null are left out; the stack of an error follows on indented lines.
 * @param line a JSON object with a line feed, as pino writes it
 */
export function renderTextLine(line: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const { stack, ...error } = isRecord(err) ? err : {};
  const head = [time, typeof level === 'string' && level.toUpperCase().padEnd(5), msg].filter(Boolean).map(printable);
  const pairs = Object.entries({ ...fields, ...prefixed('err', error) })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${printable(name)}=${valueText(value)}`);
  return `${[...head, ...pairs].join(' ')}\n${stackText(stack)}`;
}

/** `code` of `err` becomes `err.code`. */
const prefixed = (prefix: string, members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`${prefix}.${name}`, value]));

function valueText(value: unknown): string {
  const text = typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
  return printable(text);
}

/** The first line of a stack repeats the error's type and message, which are fields. */
function stackText(stack: unknown): string {
  if (typeof stack !== 'string') return '';
  const frames = stack.split('\n').filter((frame) => /^\s+at /.test(frame));
  return frames.map((frame) => `    ${printable(frame.trim())}\n`).join('');
}

const printable = (value: unknown): string =>
  String(value).replaceAll(
    UNPRINTABLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`,
  );

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

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
