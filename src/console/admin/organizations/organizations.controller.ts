import { Body, Controller, Get, Injectable, Post, Query } from '@nestjs/common';
import { AccountService, type AccountState, RecentSignIn, type Visitor } from '../../../auth/index.js';
import {
  type ListedOrganization,
  OrganizationDirectory,
  type OrganizationFilter,
  Organizations,
} from '../../../keys/organizations/index.js';
import { Administrator } from '../../access/index.js';
import {
  amountOf,
  CurrentVisitor,
  Cursors,
  Form,
  type FormBody,
  IdempotentForms,
  Page,
  Redirect,
} from '../../web/index.js';
import { filterOptions, listAddress, type ListQuery, pageOf, textIn } from '../list-address.js';
import { NewOrganizationForm, ORGANIZATION_STATES, organizationTitle, STATE_BADGES } from './organization.view.js';

const PATH = '/admin/organizations';
const LIST = 'organizations';
const PAGE_ORGANIZATIONS = 50;

/** `/admin/organizations`: the list, filtered by query parameters. */
@Injectable()
export class OrganizationListPages {
  constructor(
    private readonly directory: OrganizationDirectory,
    private readonly cursors: Cursors,
  ) {}

  async list(query: ListQuery): Promise<Page> {
    const filter = filterOf(query);
    const position = this.cursors.placeIn(LIST, query);
    const found = await this.directory.page(filter, position ?? {}, PAGE_ORGANIZATIONS + 1);
    const { shown, newer, older } = pageOf(found, PAGE_ORGANIZATIONS, position ?? {});
    return new Page('admin/organizations', {
      title: 'Organizations',
      data: {
        rows: shown.map(rowOf),
        stale: position === undefined,
        text: filter.text ?? '',
        states: filterOptions(ORGANIZATION_STATES, filter.state),
        isFiltered: filter.text !== undefined || filter.state !== undefined,
        all: { href: PATH, label: 'Clear filters' },
        create: { href: `${PATH}/new`, label: 'Create organization', icon: 'plus' },
        newer: newer ? this.address(filter, 'after', shown[0]) : undefined,
        older: older ? this.address(filter, 'before', shown.at(-1)) : undefined,
        perPage: PAGE_ORGANIZATIONS,
      },
    });
  }

  private address(
    { text, state }: OrganizationFilter,
    side: 'before' | 'after',
    organization: ListedOrganization | undefined,
  ): string | undefined {
    if (organization === undefined) return undefined;
    return listAddress(PATH, { q: text, state, [side]: this.cursors.seal(LIST, { id: organization.id }) });
  }
}

const STATES: readonly AccountState[] = ['enabled', 'disabled', 'deleted'];

const filterOf = (query: ListQuery): OrganizationFilter => ({
  text: textIn(query, 'q'),
  state: STATES.find((state) => state === textIn(query, 'state')),
});

const rowOf = (organization: ListedOrganization) => ({
  id: organization.id,
  title: organizationTitle(organization),
  owner: organization.owner?.email,
  badge: STATE_BADGES[organization.state],
  members: organization.members,
  keys: organization.keys,
  balance: organization.balance,
  owed: organization.owed > 0n ? organization.owed : undefined,
  allowance: organization.allowance > 0n ? organization.allowance : undefined,
  charged: organization.charged,
});

/** `/admin/organizations/new`: creates an organization in the name of its owner. */
@Injectable()
export class OrganizationNewPages {
  constructor(
    private readonly accounts: AccountService,
    private readonly organizations: Organizations,
    private readonly recent: RecentSignIn,
    private readonly once: IdempotentForms,
  ) {}

  page(visitor: Visitor, form: Form<NewOrganizationForm>): Page {
    const data = {
      form,
      crumbs: [{ href: PATH, label: 'Organizations' }, { label: 'Create organization' }],
      passwordNeeded: this.recent.needed(visitor),
    };
    return new Page('admin/organizations-new', { title: 'Create organization', width: 'narrow', data });
  }

  async create(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(NewOrganizationForm, body);
    const create = () => form.attempt((value) => this.created(visitor, value, form));
    const result = await this.once.run(visitor.accountId, body, create, (id) => `${PATH}/${id}`);
    if (result === undefined) return this.page(visitor, form);
    return new Redirect(
      result.location,
      result.made === undefined
        ? { tone: 'ok', title: 'This organization already exists', text: 'The form was already submitted.' }
        : { tone: 'ok', title: 'Organization created', text: 'The owner can now invite members.' },
    );
  }

  /** @returns its ID; undefined if no account has the owner's address */
  private async created(
    visitor: Visitor,
    { name, owner, credit, password }: NewOrganizationForm,
    form: Form<NewOrganizationForm>,
  ): Promise<string | undefined> {
    const account = await this.accounts.find(owner.toLowerCase());
    if (account === undefined) {
      form.refuse('owner', 'Enter the email address of a user.');
      return undefined;
    }
    await this.recent.confirm(visitor, password);
    const amount = amountOf(credit);
    const opening = amount ? { amount, reason: 'Opening credit by an administrator' } : undefined;
    return (await this.organizations.open({ ownerId: account.id, name, credit: opening })).id;
  }
}

/** The list of organizations, and creating one. */
@Controller('admin/organizations')
@Administrator()
export class AdminOrganizationsController {
  constructor(
    private readonly lists: OrganizationListPages,
    private readonly creation: OrganizationNewPages,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get('new')
  newOrganization(@CurrentVisitor() visitor: Visitor): Page {
    return this.creation.page(visitor, Form.empty());
  }

  @Post('new')
  create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.creation.create(visitor, body);
  }
}
