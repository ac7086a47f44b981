import { Body, Controller, Get, Injectable, Param, Post } from '@nestjs/common';
import { CatalogInventory } from '../../../catalog/channels/index.js';
import { parseMultiplier } from '../../../catalog/index.js';
import { times } from '../../../platform/format/index.js';
import { describeLimits } from '../../../platform/limits/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { type FormBody, Page, type Redirect } from '../../web/index.js';
import { textOf } from '../catalog-form.js';
import { nameInPart } from '../list-address.js';
import { GroupFormPages, isPreview } from './group-form.pages.js';
import { groupAddress, GroupMembers } from './group.page.js';

/** `/admin/groups`: the group list. */
@Injectable()
export class GroupListPages {
  constructor(
    private readonly inventory: CatalogInventory,
    private readonly members: GroupMembers,
  ) {}

  async list(): Promise<Page> {
    const [{ groups, models }, members] = await Promise.all([this.inventory.all(), this.members.all()]);
    const rows = groups.map((group) => ({
      name: group.name,
      href: groupAddress(group.name),
      description: group.description,
      multiplier: times(parseMultiplier(group.multiplier)),
      others: Object.keys(group.models).length,
      choice: group.choice === 'everyone' ? 'Everyone' : 'Assigned users',
      limits: describeLimits(group.limits),
      models: models.filter(({ enabled, definition }) => enabled && definition?.groups.includes(group.name)).length,
      users: members.get(group.name)?.users ?? 0,
      keys: members.get(group.name)?.keys ?? 0,
      badge: group.enabled ? { tone: 'ok', label: 'Enabled' } : { tone: '', label: 'Disabled' },
    }));
    return new Page('admin/groups', { title: 'Groups', data: { rows } });
  }
}

/** Groups: list, forms, and enabling. */
@Administrator()
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
