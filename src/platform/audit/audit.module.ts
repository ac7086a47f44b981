import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditEntryEntity } from './audit-entry.entity.js';
import { AuditLog } from './audit-log.js';

/** Global, because whatever operators change is recorded. */
@Global()
@Module({ imports: [TypeOrmModule.forFeature([AuditEntryEntity])], providers: [AuditLog], exports: [AuditLog] })
export class AuditModule {}
