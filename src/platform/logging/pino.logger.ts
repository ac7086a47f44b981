import type { LoggerService } from '@nestjs/common';
import { type Logger as Pino, pino } from 'pino';
import { LogOutput } from './log-output.js';
import { loggedError } from './logged-error.js';
import { renderTextLine } from './text-line.js';
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
export type LogFormat = 'auto' | 'json' | 'text';

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
