import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { CatalogInventory } from '../../../catalog/channels/index.js';
import { PriceHistory } from '../../../catalog/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, Page, type Redirect } from '../../web/index.js';
import { textOf } from '../catalog-form.js';
import type { ListQuery } from '../list-address.js';
import { changesNothing, ModelFormPages } from './model-form.pages.js';
import { modelAddress, modelListView, modelNameIn } from './model-list.view.js';
import { ModelMargins } from './model-margins.js';
import { comparedItems } from './price-items.js';

/** `/admin/models`: the model list, filtered by query parameters. */
@Injectable()
export class ModelListPages {
  constructor(
    private readonly inventory: CatalogInventory,
    private readonly margins: ModelMargins,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const [inventory, margins] = await Promise.all([this.inventory.all(), this.margins.byModel()]);
    return new Page('admin/models', { title: 'Models & prices', data: modelListView(inventory, margins, query) });
  }
}

/** Two versions of a model's prices, side by side. */
@Injectable()
export class ModelComparePages {
  constructor(private readonly history: PriceHistory) {}

  /** @param before @param after version numbers. @throws AppError not_found */
  async compare(name: string, before: string, after: string): Promise<Page> {
    const versions = await this.history.of(name);
    const [older, newer] = [before, after].map((wanted) => versions.find(({ number }) => String(number) === wanted));
    if (older === undefined || newer === undefined)
      throw new AppError('not_found', `${name} does not have these price versions.`);
    const href = modelAddress(name);
    const title = `Versions ${older.number} and ${newer.number}`;
    const choices = (chosen: number) =>
      versions.map(({ number }) => ({ value: number, label: String(number), selected: number === chosen }));
    return new Page('admin/model-compare', {
      title,
      width: 'narrow',
      data: {
        title,
        name,
        href,
        crumbs: [{ href: '/admin/models', label: 'Models & prices' }, { href, label: name }, { label: title }],
        older,
        newer,
        items: comparedItems(older.pricing, newer.pricing),
        befores: choices(older.number),
        afters: choices(newer.number),
      },
    });
  }
}

/** Models and prices. Model names may contain slashes, so they are always the last part of a path. */
@Administrator()
@Controller('admin')
export class AdminModelsController {
  constructor(
    private readonly lists: ModelListPages,
    private readonly forms: ModelFormPages,
    private readonly versions: ModelComparePages,
  ) {}

  @Get('models')
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get('models/new')
  newModel(@CurrentVisitor() visitor: Visitor, @Query('name') name?: string): Promise<Page> {
    return this.forms.newModel(visitor, name);
  }

  @Post('models/new')
  @RequiresRecentSignIn(changesNothing)
  create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.submit(visitor, undefined, body);
  }

  @Get('models/*')
  model(
    @CurrentVisitor() visitor: Visitor,
    @Param('*') rest: string,
    @Query('compare') before?: string,
    @Query('with') after?: string,
  ): Promise<Page> {
    const name = modelNameIn(rest);
    return before && after ? this.versions.compare(name, before, after) : this.forms.edit(visitor, name);
  }

  @Post('models/*')
  @RequiresRecentSignIn(changesNothing)
  save(@CurrentVisitor() visitor: Visitor, @Param('*') rest: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.submit(visitor, modelNameIn(rest), body);
  }

  @Post('switch-model/*')
  @RequiresRecentSignIn()
  switch(@Param('*') rest: string, @Body() body: FormBody): Promise<Redirect> {
    return this.forms.switch(modelNameIn(rest), textOf(body, 'to') === 'on');
  }

  @Post('withdraw-prices/*')
  @RequiresRecentSignIn()
  withdraw(@Param('*') rest: string, @Body() body: FormBody): Promise<Redirect> {
    return this.forms.withdraw(modelNameIn(rest), textOf(body, 'time'));
  }
}
