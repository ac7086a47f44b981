import { Logger } from '@nestjs/common';
import type { Logger as TypeOrmLogger } from 'typeorm';

/**
 * TypeORM's voice in our log instead of on stdout, where the command line's results go. Only its warnings are heard:
 * whatever fails rejects, and is told by whoever asked for it.
 */
export class QuietTypeOrmLogger implements TypeOrmLogger {
  private readonly logger = new Logger('TypeORM');

  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.logger.warn(String(message));
  }

  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
}
