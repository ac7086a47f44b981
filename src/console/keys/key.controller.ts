import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, type FormBody, localPath, type Page, Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { OwnKeys } from '../../keys/index.js';
import { KeyDeletePages } from './key-delete.pages.js';
import { KeyFormPages } from './key-form.pages.js';
import { KeyUsePages } from './key-use.pages.js';
import { LeakedKeyPages } from './leaked-key.pages.js';

/** One key of an account. Whatever is asked of another account's key, there is none. */
@Controller('keys/:id')
@SignedIn()
export class KeyController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly use: KeyUsePages,
    private readonly forms: KeyFormPages,
    private readonly deletion: KeyDeletePages,
    private readonly leaks: LeakedKeyPages,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query('range') range?: unknown): Promise<Page> {
    return this.use.own(visitor, id, range);
  }

  @Post('notices/:notice')
  acknowledge(
    @CurrentVisitor() visitor: Visitor,
    @Param() { id, notice }: { readonly id: string; readonly notice: string },
    @Body() { back }: FormBody,
  ): Promise<Redirect> {
    return this.use.acknowledge(
      visitor,
      id,
      notice,
      localPath(typeof back === 'string' ? back : undefined, `/keys/${id}`),
    );
  }

  @Get('edit')
  edit(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.forms.edit(visitor, id);
  }

  @Post('edit')
  save(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.save(visitor, id, body);
  }

  @Post('raise')
  raise(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.raise(visitor, id, body);
  }

  @Post('disable')
  async disable(@CurrentVisitor() { accountId }: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.disable({ accountId, id });
    const text = 'Calls with this key are rejected until you enable it.';
    return new Redirect(`/keys/${id}`, { tone: 'ok', title: `Key “${name}” disabled`, text });
  }

  @Post('enable')
  async enable(@CurrentVisitor() { accountId }: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.enable({ accountId, id });
    const text = 'Calls with this key are accepted again.';
    return new Redirect(`/keys/${id}`, { tone: 'ok', title: `Key “${name}” enabled`, text });
  }

  @Get('delete')
  askToDelete(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.deletion.ask(visitor, id);
  }

  @Post('delete')
  delete(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.deletion.delete(visitor, id, body);
  }

  @Get('leaked')
  leaked(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query('made') made?: string): Promise<Page> {
    return this.leaks.show(visitor, id, made);
  }

  @Post('leaked')
  disableLeaked(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Query('made') made?: string,
  ): Promise<Redirect> {
    return this.leaks.disable(visitor, id, made);
  }

  @Post('replace')
  replace(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.leaks.replace(visitor, id, body);
  }
}
