import { Injectable } from '@nestjs/common';
import { parseMultiplier } from '../../../catalog/index.js';
import { CatalogInventory } from '../../../catalog/channels/index.js';
import { describeLimits } from '../../../platform/limits/index.js';
import { Page } from '../../web/index.js';
import { times } from '../../../platform/format/index.js';
import { GroupMembers } from './group-members.js';
import { groupAddress } from './group.page.js';

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
