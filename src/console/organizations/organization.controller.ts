import { Body, Controller, Get, Post } from '@nestjs/common';
import { allows, type OrganizationScope, RecentSignIn, type Visitor } from '../../auth/index.js';
import { Members, MembersReader, OrganizationBills, Organizations } from '../../keys/organizations/index.js';
import { Clock, startOfDay } from '../../platform/shared/index.js';
import { WalletService } from '../../wallet/index.js';
import { Allows, Audited, RequiresRecentSignIn, SignedIn } from '../access/index.js';
import { CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';
import {
  ConfirmNameForm,
  DefaultsForm,
  defaultValues,
  limitsTyped,
  OrganizationNameForm,
  TransferForm,
} from './organization-forms.js';
import {
  billRows,
  billStats,
  budgetRows,
  choiceOf,
  crumbs,
  memberRow,
  organizationOf,
  personOf,
  tabsOf,
} from './organization.view.js';

/** `/organization`: what the organization spends; for members, what is left for them. */
@Controller('organization')
@SignedIn()
export class OrganizationOverviewController {
  constructor(
    private readonly members: Members,
    private readonly reader: MembersReader,
    private readonly bills: OrganizationBills,
    private readonly wallets: WalletService,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Allows('view organization', 'use keys')
  async overview(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    const organization = organizationOf(visitor);
    const { budgets, team, keys, maxKeys } = await this.members.get(organization.id, organization.memberId);
    const data = {
      organization: { name: organization.name },
      tabs: tabsOf(organization, 'overview'),
      budgets: budgetRows(budgets, true),
      hasBudget: budgetRows(budgets).length > 0,
      usesKeys: allows(organization, 'use keys'),
      team: team?.name,
      keys,
      maxKeys,
    };
    if (!allows(organization, 'view organization')) {
      const contacts = (await this.reader.contacts(organization.id)).map(personOf);
      return new Page('organizations/own-budgets', {
        title: organization.name,
        width: 'narrow',
        data: { ...data, contacts },
      });
    }
    const figures = await this.figures(organization);
    return new Page('organizations/overview', { title: organization.name, data: { ...data, ...figures } });
  }

  private async figures({ id }: OrganizationScope) {
    const now = this.clock.date();
    const day = now.toISOString().slice(0, 'YYYY-MM-DD'.length);
    const end = new Date(now.getTime() + 1);
    const [today, month, wallet, near, counts] = await Promise.all([
      this.bills.of(id, startOfDay(day, 'UTC'), end),
      this.bills.of(id, startOfDay(`${day.slice(0, 'YYYY-MM'.length)}-01`, 'UTC'), end),
      this.wallets.balanceOf(id),
      this.reader.nearLimit(id),
      this.reader.counts(id),
    ]);
    return {
      stats: [...billStats(wallet.balance, wallet.held, today, month), countStat(counts)],
      members: billRows(today.members, month.members, '/organization/members'),
      teams: counts.teams === 0 ? [] : billRows(today.teams, month.teams, '/organization/teams'),
      near: near.map(memberRow),
    };
  }
}

const countStat = ({ members, keys, serviceKeys }: Awaited<ReturnType<MembersReader['counts']>>) => ({
  label: 'Members',
  value: members.toLocaleString('en-US'),
  note: `${keys} key${keys === 1 ? '' : 's'}, ${serviceKeys} of them service keys`,
});

interface SubmittedForms {
  readonly name?: Form<OrganizationNameForm> | undefined;
  readonly defaults?: Form<DefaultsForm> | undefined;
  readonly transfer?: Form<TransferForm> | undefined;
  readonly deletion?: Form<ConfirmNameForm> | undefined;
}

/** `/organization/settings`: name, defaults for new members, ownership, leaving, deletion. */
@Controller('organization/settings')
@SignedIn()
@Audited()
export class OrganizationSettingsController {
  constructor(
    private readonly organizations: Organizations,
    private readonly members: Members,
    private readonly reader: MembersReader,
    private readonly recent: RecentSignIn,
  ) {}

  @Get()
  @Allows('view organization', 'use keys')
  show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.page(visitor);
  }

  @Post('name')
  @Allows('manage organization')
  async rename(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const name = Form.read(OrganizationNameForm, body);
    const isSaved = await name.succeeds((value) => this.organizations.rename(organizationOf(visitor), value.name));
    return isSaved ? saved('Name saved') : this.page(visitor, { name });
  }

  @Post('defaults')
  @Allows('manage organization')
  async setDefaults(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const defaults = Form.read(DefaultsForm, body);
    const isSaved = await defaults.succeeds((value) =>
      this.organizations.setDefaults(organizationOf(visitor), limitsTyped(value)),
    );
    return isSaved
      ? saved('Defaults saved', 'They apply to members who join from now on.')
      : this.page(visitor, { defaults });
  }

  @Post('transfer')
  @Allows('own organization')
  @RequiresRecentSignIn()
  async offer(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const transfer = Form.read(TransferForm, body);
    const isSaved = await transfer.succeeds(({ member }) => this.organizations.offer(organizationOf(visitor), member));
    return isSaved
      ? saved('Ownership offered', 'You stay the owner until they accept.')
      : this.page(visitor, { transfer });
  }

  @Post('transfer/withdraw')
  @Allows('own organization')
  async withdraw(@CurrentVisitor() visitor: Visitor): Promise<Redirect> {
    await this.organizations.withdrawOffer(organizationOf(visitor));
    return saved('Offer withdrawn');
  }

  @Post('transfer/accept')
  @Allows('view organization', 'use keys')
  async accept(@CurrentVisitor() visitor: Visitor): Promise<Redirect> {
    await this.organizations.acceptOffer(organizationOf(visitor));
    return saved('You are the owner now', 'The previous owner is an admin.');
  }

  @Post('transfer/decline')
  @Allows('view organization', 'use keys')
  async decline(@CurrentVisitor() visitor: Visitor): Promise<Redirect> {
    await this.organizations.declineOffer(organizationOf(visitor));
    return saved('Offer declined');
  }

  @Post('leave')
  @Allows('view organization', 'use keys')
  async leave(@CurrentVisitor() visitor: Visitor): Promise<Redirect> {
    const organization = organizationOf(visitor);
    await this.members.leave(organization);
    const text = 'Your keys there no longer work. You are back in your personal account.';
    return new Redirect('/organizations', { tone: 'ok', title: `You left ${organization.name}`, text });
  }

  /** The form must repeat the name. */
  @Post('delete')
  @Allows('own organization')
  @RequiresRecentSignIn()
  async delete(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const deletion = Form.read(ConfirmNameForm, body);
    if (deletion.value?.confirm.trim() !== organization.name)
      deletion.refuse('confirm', `Enter the name, ${organization.name}, to delete it.`);
    if (deletion.refused) return this.page(visitor, { deletion });
    await this.organizations.delete(organization);
    const text = 'Its keys no longer work. Calls and ledger entries stay on record.';
    return new Redirect('/organizations', { tone: 'ok', title: `${organization.name} deleted`, text });
  }

  private async page(visitor: Visitor, forms: SubmittedForms = {}): Promise<Page> {
    const organization = organizationOf(visitor);
    const { defaults, offer, name } = await this.organizations.get(organization.id);
    const isOwner = allows(organization, 'own organization');
    const candidates = isOwner ? await this.reader.names(organization.id) : [];
    return new Page('organizations/settings', {
      title: 'Organization settings',
      width: 'narrow',
      data: {
        form: forms.name ?? forms.defaults ?? forms.transfer ?? forms.deletion ?? Form.empty(),
        nameForm: forms.name ?? Form.empty({ name }),
        defaultsForm: forms.defaults ?? Form.empty(defaultValues(defaults)),
        transferForm: forms.transfer ?? Form.empty(),
        deletionForm: forms.deletion ?? Form.empty(),
        name,
        tabs: tabsOf(organization, 'settings'),
        mayManage: allows(organization, 'manage organization'),
        isOwner,
        candidates: candidates.filter(({ id }) => id !== organization.memberId).map(choiceOf),
        offer: isOwner ? offer : undefined,
        isOffered: offer?.memberId === organization.memberId,
        passwordNeeded: this.recent.needed(visitor),
        crumbs: crumbs(organization, { label: 'Settings' }),
      },
    });
  }
}

const saved = (title: string, text?: string): Redirect =>
  new Redirect('/organization/settings', { tone: 'ok', title, ...(text !== undefined && { text }) });
