import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { textOf } from '../catalog-form.js';
import type { ListQuery } from '../list-address.js';
import { modelNameIn } from './model-address.js';
import { ModelComparePages } from './model-compare.pages.js';
import { changesNothing, ModelFormPages } from './model-form.pages.js';
import { ModelListPages } from './model-list.pages.js';

/** Models and prices. Model names may contain slashes, so they are always the last part of a path. */
@Operator()
@Controller('admin')
export class ModelsController {
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
