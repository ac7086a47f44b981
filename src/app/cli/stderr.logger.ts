import { ConsoleLogger } from '@nestjs/common';

/** Who complains when the start fails. The names are Nest's; the service's own logger sorts them out as well. */
const STARTING = new Set(['ExceptionHandler', 'TypeOrmModule']);

/** Warnings and errors on stderr: stdout belongs to results. */
export class StderrLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ['warn', 'error', 'fatal'], prefix: 'switchboard' });
  }

  /** What made the start fail is thrown as well, and printed in one line by whoever catches it. */
  override error(message: unknown, ...details: unknown[]): void {
    if (!STARTING.has(String(details.at(-1)))) super.error(message, ...details);
  }

  protected override printMessages(messages: unknown[], context?: string, logLevel?: Level): void {
    super.printMessages(messages, context, logLevel, 'stderr');
  }
}

type Level = NonNullable<Parameters<ConsoleLogger['setLogLevels']>[0]>[number];
