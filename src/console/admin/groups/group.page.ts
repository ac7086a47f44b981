import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogInventory, type Inventory } from '../../../catalog/channels/index.js';
import { DEFAULT_GROUP, type GroupDefinition } from '../../../catalog/index.js';
import { times } from '../../../platform/format/index.js';
import { type Difference, Page } from '../../web/index.js';
import type { CatalogForm } from '../catalog-form.js';
import { accountPath, addressPart } from '../list-address.js';
import { contentIn, contentRows, type GroupContent } from './group-content.js';
import { multiplierIn, sampleCost } from '../models/model.page.js';
import { ACCOUNT_NAME } from '../../../usage/index.js';

/** How many members are listed by name; the rest are counted. */
const NAMED = 10;

/** Number of accounts and keys that are billed to a group, without deleted ones. */
interface Members {
  readonly users: number;
  /** Keys with this group, or without a group and owned by one of its users. */
  readonly keys: number;
}

/** The first members, by name. */
interface NamedMembers {
  readonly users: readonly { readonly id: string; readonly email: string }[];
  readonly keys: readonly { readonly name: string; readonly accountId: string; readonly email: string }[];
}

/** Reads the users and keys of groups. */
@Injectable()
export class GroupMembers {
  constructor(private readonly dataSource: DataSource) {}

  /** By group name; groups without members are absent. */
  async all(): Promise<ReadonlyMap<string, Members>> {
    const rows = await this.dataSource.query<(Members & { readonly name: string })[]>(`
      SELECT name, sum(users)::integer AS users, sum(keys)::integer AS keys FROM (
        SELECT coalesce(group_name, 'default') AS name, count(*) AS users, 0 AS keys
          FROM accounts WHERE state <> 'deleted' AND kind = 'person' GROUP BY 1
        UNION ALL
        SELECT coalesce(k.group_name, a.group_name, 'default'), 0, count(*)
          FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.state <> 'deleted' GROUP BY 1
      ) counted GROUP BY name`);
    return new Map(rows.map(({ name, users, keys }) => [name, { users, keys }]));
  }

  /** Users sorted by email address; keys by name, then by user. */
  async named(group: string): Promise<NamedMembers> {
    const [users, keys] = await Promise.all([
      this.dataSource.query<NamedMembers['users']>(
        `SELECT id, email FROM accounts WHERE state <> 'deleted' AND kind = 'person' AND coalesce(group_name, 'default') = $1
          ORDER BY email LIMIT ${NAMED}`,
        [group],
      ),
      this.dataSource.query<NamedMembers['keys']>(
        `SELECT k.name, a.id AS "accountId", ${ACCOUNT_NAME} AS email FROM api_keys k JOIN accounts a ON a.id = k.account_id
          WHERE k.state <> 'deleted' AND coalesce(k.group_name, a.group_name, 'default') = $1
          ORDER BY k.name, 3, k.id LIMIT ${NAMED}`,
        [group],
      ),
    ]);
    return { users, keys };
  }
}

/** Content of the page besides the stored group. */
interface GroupPageOptions {
  readonly form: CatalogForm;
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
  async show(group: GroupDefinition | undefined, { form, after, differences }: GroupPageOptions): Promise<Page> {
    const inventory = await this.inventory.all();
    const title = group?.name ?? 'Add group';
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
        content: contentRows(inventory, form.values),
        preview: groupPreview(inventory, group, after ?? group, contentIn(form.values)),
        changed: after !== undefined,
        unchanged: group !== undefined && after === undefined && differences === undefined,
        ...(group && (await this.known(group))),
      },
    });
  }

  private async known({ name, enabled }: GroupDefinition) {
    const [all, named] = await Promise.all([this.members.all(), this.members.named(name)]);
    const members = all.get(name) ?? { users: 0, keys: 0 };
    return {
      group: { name, enabled, href: groupAddress(name), maySwitchOff: name !== DEFAULT_GROUP },
      badge: enabled ? undefined : { tone: '', label: 'Disabled' },
      members,
      without: [
        listed(
          'Users',
          members.users,
          named.users.map(({ id, email }) => ({ href: accountPath(id), label: email })),
        ),
        listed(
          'API keys',
          members.keys,
          named.keys.map(({ name: key, accountId, email }) => ({
            href: accountPath(accountId),
            label: key,
            of: email,
          })),
        ),
      ].filter(({ links }) => links.length > 0),
      users: `/admin/users?group=${encodeURIComponent(name)}`,
    };
  }
}

const listed = <Link>(label: string, all: number, links: readonly Link[]) => ({
  label,
  links,
  more: all > links.length ? all - links.length : undefined,
});

/**
 * Cost of a sample call for each model of a group, before and after a change, in nano-dollars. A new group without
 * models shows all of them.
 * @param content what the group contains after the change
 */
export function groupPreview(
  { models, channels }: Inventory,
  before: GroupDefinition | undefined,
  after: GroupDefinition | undefined,
  content: GroupContent,
) {
  const name = before?.name;
  if (before === undefined && after === undefined) return [];
  const showsAll = before === undefined && content.models.size === 0;
  const serving = channels.filter((channel) => content.channels.has(channel.name));
  return models.flatMap(({ name: model, enabled, definition }) => {
    if (!enabled || definition === undefined) return [];
    const [was, is] = [name !== undefined && definition.groups.includes(name), content.models.has(model)];
    if (!was && !is && !showsAll) return [];
    const cost = (group: GroupDefinition | undefined) =>
      group && sampleCost(definition.pricing, multiplierIn(group, model));
    return [
      {
        model,
        multiplier: after && times(multiplierIn(after, model)),
        unserved: is && !serving.some((one) => one.models.includes(model)),
        now: was ? cost(before) : undefined,
        after: is || showsAll ? cost(after) : undefined,
      },
    ];
  });
}
