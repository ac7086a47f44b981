import { Body, Controller, Get, Post } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { Administrator } from '../../access/index.js';
import { CurrentVisitor, type FormBody, IdempotentForms, Page, Redirect, SealedSecrets } from '../../web/index.js';
import { textOf } from '../catalog-form.js';
import { addedFlash, type AddedModels, AddModelsPages } from './add-models.pages.js';

/** Adds models of a provider, with the channel that serves them. */
@Administrator()
@Controller('admin/models/add')
export class AddModelsController {
  constructor(
    private readonly pages: AddModelsPages,
    private readonly once: IdempotentForms,
    private readonly secrets: SealedSecrets,
  ) {}

  @Get()
  connect(@CurrentVisitor() visitor: Visitor): Page {
    return this.pages.connect(visitor);
  }

  @Post()
  async submit(@CurrentVisitor() visitor: Visitor, @Body() sent: FormBody): Promise<Page | Redirect> {
    const body = this.secrets.reopened(visitor, 'add models', sent);
    // The buttons of the list only show it again.
    if (textOf(body, '_step') !== 'add' || textOf(body, '_act') !== '') return this.pages.choose(visitor, body);
    let refused: Page | undefined;
    const add = async (): Promise<AddedModels | undefined> => {
      const added = await this.pages.add(visitor, body);
      if (!(added instanceof Page)) return added;
      refused = added;
      return undefined;
    };
    const result = await this.once.run(visitor.accountId, body, add, () => '/admin/models');
    if (result === undefined && refused !== undefined) return refused;
    return result?.made === undefined ? new Redirect('/admin/models') : addedFlash(result.made);
  }
}
