import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { UsageModule } from '../../../usage/index.js';
import { AuditController } from './audit.controller.js';
import { AuditCsv } from './audit-csv.js';
import { AuditPages } from './audit.pages.js';

@Module({ imports: [AccessModule, UsageModule], controllers: [AuditController], providers: [AuditCsv, AuditPages] })
export class AuditPagesModule {}
