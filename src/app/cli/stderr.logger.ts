import { ConsoleLogger } from '@nestjs/common';

/** Nest's contexts that log a failed start, which is also thrown. */
const STARTING = new Set(['ExceptionHandler', 'TypeOrmModule']);

/** Warnings and errors on stderr: stdout belongs to results. */
export class StderrLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ['warn', 'error', 'fatal'], prefix: 'switchboard' });
  }

  /** Skips errors of a failed start: they are thrown as well and printed as one line. */
  override error(message: unknown, ...details: unknown[]): void {
    if (!STARTING.has(String(details.at(-1)))) super.error(message, ...details);
  }

  protected override printMessages(messages: unknown[], context?: string, logLevel?: Level): void {
    super.printMessages(messages, context, logLevel, 'stderr');
  }
}

type Level = NonNullable<Parameters<ConsoleLogger['setLogLevels']>[0]>[number];
