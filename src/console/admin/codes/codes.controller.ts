import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Visitor } from '../../../auth/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import type { ListQuery } from '../list-address.js';
import { CodeBatchPages } from './code-batch.pages.js';
import { CodeListPages } from './code-list.pages.js';

/** Redemption codes: list, creation and voiding. */
@Controller('admin/codes')
@Administrator()
export class CodesController {
  constructor(
    private readonly lists: CodeListPages,
    private readonly batches: CodeBatchPages,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get('new')
  newCodes(@CurrentVisitor() visitor: Visitor): Page {
    return this.batches.showForm(visitor);
  }

  @Post('new')
  create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.batches.create(visitor, body);
  }

  @Post('csv')
  download(@Body() body: FormBody, @Res() reply: FastifyReply): void {
    const file = [...codesCsv(body)].join('');
    void reply
      .headers({ 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="codes.csv"' })
      .type('text/csv; charset=utf-8')
      .send(file);
  }

  @Post(':id/void')
  @RequiresRecentSignIn()
  void(@Param('id') id: string): Promise<Redirect> {
    return this.batches.void(id);
  }
}

/** A code as displayed: groups of four letters and digits. */
const CODE = /^[0-9A-Z]{4}(?:-[0-9A-Z]{4}){6}$/;
const MAX = 1000;

/**
 * Codes as a file with one column. The page that shows the codes submits them, because they are not stored in plain
 * text; this needs neither a script nor a URL that leads to them.
 * @throws AppError for anything but a list of codes
 */
function* codesCsv({ codes }: FormBody): Generator<string, void, void> {
  const lines = typeof codes === 'string' ? codes.split(/\r?\n/).filter((line) => line !== '') : [];
  if (lines.length === 0 || lines.length > MAX || !lines.every((line) => CODE.test(line)))
    throw new AppError(
      'invalid_request',
      'This is not a list of codes. Download the file from the page that shows the codes.',
    );
  yield 'code\r\n';
  for (const line of lines) yield `${line}\r\n`;
}
