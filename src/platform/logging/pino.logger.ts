import type { LoggerService } from '@nestjs/common';
import { type Logger as Pino, pino } from 'pino';
import { LogOutput } from './log-output.js';
import { loggedError } from './logged-error.js';
import { isWorker } from '../workers/index.js';

/** Who tells how the framework puts itself together: of no interest unless that fails. */
const FRAMEWORK = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Who complains when the start fails, which is told in one line by whoever started it. */
const STARTING = new Set(['ExceptionHandler', 'NestApplication', 'TypeOrmModule']);

/**
 * What others write to the same pipe at the same time stands before or behind so many bytes, never among them (PIPE_BUF).
 * Lines are ASCII but for a word here and there.
 */
const WHOLE_WRITE = 4000;

/**
 * Nest's logger over pino: one JSON line an entry on stdout, a worker's with its pid. A message is a text, or an object whose members stand on
 * the line; then a text may follow it. What is logged never holds bodies, headers or keys.
 */
export class PinoLogger implements LoggerService {
  private readonly pino: Pino;
  private readonly output = new LogOutput(process.stdout.fd, isWorker ? WHOLE_WRITE : Infinity);

  constructor(level: string) {
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

  /** Nest appends the context, the name of who logs, as the last argument. */
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
