import { Logger } from '@nestjs/common';
import type { Logger as TypeOrmLogger } from 'typeorm';

/**
 * Sends TypeORM's warnings to our log instead of stdout, which carries command line results. Errors reject and are
 * logged by the caller.
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
