import { Injectable } from '@nestjs/common';
import { AccountGone, RecentSignIn, type Visitor } from '../../../auth/index.js';
import {
  type ListedOrganization,
  MembersReader,
  OrganizationDirectory,
  Teams,
} from '../../../keys/organizations/index.js';
import { usd } from '../../../platform/format/index.js';
import { memberRow } from '../../organizations/index.js';
import { Form, Page } from '../../web/index.js';
import { listAddress, type ListQuery } from '../list-address.js';
import { groupOptions, UserChoices, UserFacts, UserLists } from '../users/user-facts.js';
import { type SentSettings, settingsView } from '../users/user.pages.js';
import {
  type DeleteOrganizationForm,
  organizationCrumbs,
  organizationFacts,
  organizationStats,
  organizationTitle,
  teamRow,
} from './organization.view.js';

/** Members and teams on the page of an organization. */
@Injectable()
export class OrganizationPeople {
  constructor(
    private readonly members: MembersReader,
    private readonly teams: Teams,
  ) {}

  async of({ id }: ListedOrganization, query: ListQuery) {
    const after =
      typeof query['members'] === 'string' && /^mem_\w+$/.test(query['members']) ? query['members'] : undefined;
    const { members, next } = await this.members.page(id, {}, { after });
    const last = members.at(-1);
    const path = `/admin/organizations/${id}`;
    return {
      members: members.map((member) => ({ ...memberRow(member), account: `/admin/users/${member.accountId}` })),
      memberTurns: (after !== undefined || next) && {
        newest: after && `${path}#members`,
        older: next && last ? `${listAddress(path, { members: last.id })}#members` : undefined,
      },
      teams: (await this.teams.list(id)).map(teamRow),
    };
  }
}

/** `/admin/organizations/:id`: one organization. */
@Injectable()
export class OrganizationPages {
  constructor(
    private readonly directory: OrganizationDirectory,
    private readonly people: OrganizationPeople,
    private readonly facts: UserFacts,
    private readonly lists: UserLists,
    private readonly choices: UserChoices,
  ) {}

  /** @throws AccountGone */
  async show(id: string, query: ListQuery = {}, sent?: SentSettings): Promise<Page> {
    const organization = await this.find(id);
    const settings = settingsView(await this.facts.account(id), sent);
    const [keys, ledger] = [await this.lists.keys(id, query), await this.lists.ledger(id, query)];
    return new Page('admin/organizations-organization', {
      title: organizationTitle(organization),
      ...(settings.differences && { status: 409 }),
      data: {
        form: settings.form,
        settings,
        organization: organizationFacts(organization),
        stats: organizationStats(organization),
        crumbs: organizationCrumbs(organization),
        groups: groupOptions(await this.choices.groups()),
        ...(await this.people.of(organization, query)),
        keys,
        ledger,
        lost: keys.lost || ledger.lost,
      },
    });
  }

  /** @throws AccountGone */
  async find(id: string): Promise<ListedOrganization> {
    // The database rejects some texts, such as those with NUL.
    const organization = /^org_\w+$/.test(id) ? await this.directory.find(id) : undefined;
    if (organization === undefined) throw new AccountGone();
    return organization;
  }

  /** @throws AccountGone, also for a deleted organization */
  async findPresent(id: string): Promise<ListedOrganization> {
    const organization = await this.find(id);
    if (organization.state === 'deleted') throw new AccountGone();
    return organization;
  }
}

/** `/admin/organizations/:id/delete`: requires the name to be typed, since deletion is permanent. */
@Injectable()
export class OrganizationDeletePages {
  constructor(private readonly recent: RecentSignIn) {}

  page(visitor: Visitor, organization: ListedOrganization, form: Form<DeleteOrganizationForm>): Page {
    return new Page('admin/organizations-delete', {
      title: `Delete ${organization.name}?`,
      width: 'narrow',
      data: {
        form,
        organization: organizationFacts(organization),
        balance: organization.balance > 0n ? usd(organization.balance) : undefined,
        owed: organization.owed > 0n ? usd(organization.owed) : undefined,
        calls: organization.calls,
        members: organization.members,
        crumbs: organizationCrumbs(organization, { label: 'Delete' }),
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}
