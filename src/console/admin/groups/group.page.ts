import { Injectable } from '@nestjs/common';
import { DEFAULT_GROUP, type GroupDefinition } from '../../../catalog/index.js';
import { CatalogInventory, type Inventory } from '../../../catalog/channels/index.js';
import { type Difference, Page } from '../../web/index.js';
import type { TypedForm } from '../catalog-form.js';
import { addressPart } from '../name-address.js';
import { groupPreview } from './group-preview.js';
import { GroupMembers } from './group-members.js';

/** What the page shows besides the stored group. */
interface Shown {
  readonly form: TypedForm;
  /** The group that the form describes, if valid. */
  readonly after?: GroupDefinition | undefined;
  readonly differences?: readonly Difference[];
}

const CONFLICT = 409;
const CHOICES = [
  { value: 'everyone', label: 'Everyone' },
  { value: 'assigned', label: 'Assigned users only' },
];

export const groupAddress = (name: string): string => `/admin/groups/${addressPart(name)}`;

/** The page of a group: form, price preview and members. */
@Injectable()
export class GroupPage {
  constructor(
    private readonly inventory: CatalogInventory,
    private readonly members: GroupMembers,
  ) {}

  /** @param group undefined for a new group */
  async show(group: GroupDefinition | undefined, { form, after, differences }: Shown): Promise<Page> {
    const inventory = await this.inventory.all();
    const title = group?.name ?? 'New group';
    return new Page('admin/group-edit', {
      title,
      ...(differences && { status: CONFLICT }),
      data: {
        title,
        crumbs: [{ href: '/admin/groups', label: 'Groups' }, { label: title }],
        form,
        differences,
        revision: form.values['revision'],
        choices: CHOICES,
        preview: groupPreview(inventory, group, after ?? group),
        changed: after !== undefined,
        ...(group && (await this.known(group, inventory))),
      },
    });
  }

  private async known({ name, enabled }: GroupDefinition, { channels }: Inventory) {
    const [all, named] = await Promise.all([this.members.all(), this.members.named(name)]);
    const members = all.get(name) ?? { users: 0, keys: 0 };
    const serving = channels.filter(({ groups }) => groups.includes(name)).map((channel) => channel.name);
    return {
      group: { name, enabled, href: groupAddress(name), maySwitchOff: name !== DEFAULT_GROUP },
      badge: enabled ? undefined : { tone: '', label: 'Disabled' },
      members,
      without: [
        listed(
          'Users',
          members.users,
          named.users.map(({ id, email }) => ({ href: userAddress(id), label: email })),
        ),
        listed(
          'API keys',
          members.keys,
          named.keys.map(({ name: key, accountId, email }) => ({
            href: userAddress(accountId),
            label: key,
            of: email,
          })),
        ),
      ].filter(({ links }) => links.length > 0),
      channels: serving,
      users: `/admin/users?group=${encodeURIComponent(name)}`,
    };
  }
}

const userAddress = (id: string): string => `/admin/users/${id}`;

const listed = <Link>(label: string, all: number, links: readonly Link[]) => ({
  label,
  links,
  more: all > links.length ? all - links.length : undefined,
});
