import type { LoggerService } from '@nestjs/common';
import { type Logger as Pino, pino } from 'pino';
import { isWorker } from '../workers/index.js';
import { LogOutput } from './log-output.js';

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
