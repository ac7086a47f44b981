import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import type { FormBody, Page, Redirect } from '../../web/index.js';
import { textOf } from '../catalog-form.js';
import { nameInPart } from '../name-address.js';
import { GroupFormPages, isPreview } from './group-form.pages.js';
import { GroupListPages } from './group-list.pages.js';

/** Groups: list, forms, and enabling. */
@Operator()
@Controller('admin/groups')
export class GroupsController {
  constructor(
    private readonly lists: GroupListPages,
    private readonly forms: GroupFormPages,
  ) {}

  @Get()
  list(): Promise<Page> {
    return this.lists.list();
  }

  @Get('new')
  newGroup(): Promise<Page> {
    return this.forms.newGroup();
  }

  @Post('new')
  @RequiresRecentSignIn(isPreview)
  create(@Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.submit(undefined, body);
  }

  @Get(':name')
  group(@Param('name') part: string): Promise<Page> {
    return this.forms.edit(nameInPart(part));
  }

  @Post(':name')
  @RequiresRecentSignIn(isPreview)
  save(@Param('name') part: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.submit(nameInPart(part), body);
  }

  @Post(':name/switch')
  @RequiresRecentSignIn()
  switch(@Param('name') part: string, @Body() body: FormBody): Promise<Redirect> {
    return this.forms.switch(nameInPart(part), textOf(body, 'to') === 'on');
  }
}
