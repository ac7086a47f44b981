import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { CatalogModule } from '../../catalog/index.js';
import { KeysModule } from '../../keys/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule, SignedIn } from '../access/index.js';
import { UsagePagesModule } from '../usage/index.js';
import { CurrentVisitor, Form, type FormBody, OnceForms, type Page, type Redirect } from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { KeyCreatedPages, shownBefore } from './key-created.pages.js';
import { KeyForm } from './key-form.js';
import { KeyFormPages } from './key-form.pages.js';
import { KeyListPages, type Query as ListQuery } from './key-list.pages.js';
import { KeyUsePages } from './key-use.pages.js';
import { KeyController, KeyDeletePages } from './key.controller.js';
import { LeakedKeyPages } from './leaked-key.pages.js';

/** An account's keys: the list, and making one. */
@Controller('keys')
@SignedIn()
class KeysController {
  constructor(
    private readonly lists: KeyListPages,
    private readonly forms: KeyFormPages,
    private readonly createdPages: KeyCreatedPages,
    private readonly once: OnceForms,
  ) {}

  @Get()
  list(@CurrentVisitor() visitor: Visitor, @Query() query: ListQuery): Promise<Page | Redirect> {
    return this.lists.list(visitor, query);
  }

  @Get('new')
  newKey(@CurrentVisitor() visitor: Visitor): Page {
    return this.forms.newKey(visitor);
  }

  /** Answers with the secret itself, so that no address ever leads to it; sent again, it leads to the key without it. */
  @Post('new')
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(KeyForm, body);
    const create = () => this.forms.create(visitor, form);
    const result = await this.once.run(visitor.accountId, body, create, ({ id }) => `/keys/${id}/edit`);
    if (result === undefined) return this.forms.newKey(visitor, form);
    if (result.made === undefined) return shownBefore(result.location);
    return this.createdPages.created(visitor, result.made);
  }
}

@Module({
  imports: [AccessModule, CatalogModule, KeysModule, UsagePagesModule, WalletModule],
  controllers: [KeysController, KeyController],
  providers: [KeyChoices, KeyCreatedPages, KeyDeletePages, KeyFormPages, KeyListPages, KeyUsePages, LeakedKeyPages],
  exports: [KeyUsePages],
})
export class KeyPagesModule {}
