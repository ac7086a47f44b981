import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { allows, type OrganizationScope, type Visitor } from '../../auth/index.js';
import { Offer } from '../../catalog/index.js';
import { type Team, Teams } from '../../keys/organizations/index.js';
import { Allows, Audited, SignedIn } from '../access/index.js';
import { CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../web/index.js';
import { ConfirmNameForm, TeamChangeForm, TeamForm, teamTyped, teamValues } from './organization-forms.js';
import { budgetRows, crumbs, organizationOf, restrictionsOf, tabsOf } from './organization.view.js';

const PATH = '/organization/teams';

/** `/organization/teams`: what teams may use, and the budgets that their members share. */
@Controller('organization/teams')
@SignedIn()
@Audited()
export class TeamsController {
  constructor(
    private readonly teams: Teams,
    private readonly offer: Offer,
    private readonly once: IdempotentForms,
  ) {}

  @Get()
  @Allows('view organization')
  async list(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    const organization = organizationOf(visitor);
    const teams = await this.teams.list(organization.id);
    return new Page('organizations/teams', {
      title: 'Teams',
      data: {
        tabs: tabsOf(organization, 'teams'),
        crumbs: crumbs(organization, { label: 'Teams' }),
        mayManage: allows(organization, 'manage organization'),
        rows: teams.map(teamRow),
      },
    });
  }

  @Get('new')
  @Allows('manage organization')
  newTeam(@CurrentVisitor() visitor: Visitor): Page {
    return this.formPage(visitor, Form.empty(), undefined);
  }

  @Post('new')
  @Allows('manage organization')
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const form = Form.read(TeamForm, body);
    const result = await this.once.run(
      visitor.accountId,
      body,
      () => form.attempt((value) => this.teams.create(organization, teamTyped(value))),
      (id) => `${PATH}/${id}`,
    );
    if (result === undefined) return this.formPage(visitor, form, undefined);
    const text = 'Move members into it on their pages.';
    return new Redirect(result.location, { tone: 'ok', title: 'Team created', text });
  }

  /** Who may not change it sees the same page without the form. */
  @Get(':id')
  @Allows('view organization')
  async show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    const team = await this.teams.get(organizationOf(visitor).id, id);
    return this.formPage(visitor, Form.empty(teamValues(team)), team);
  }

  @Post(':id')
  @Allows('manage organization')
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const form = Form.read(TeamChangeForm, body);
    const isSaved = await form.succeeds((value) =>
      this.teams.update(organization, id, Number(value.version), teamTyped(value)),
    );
    if (!isSaved) return this.formPage(visitor, form, await this.teams.get(organization.id, id));
    return new Redirect(`${PATH}/${id}`, { tone: 'ok', title: 'Team saved', text: 'Changes apply within a second.' });
  }

  /** If the team has members or keys, the form must repeat its name. */
  @Get(':id/delete')
  @Allows('manage organization')
  async confirmDeletion(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    const organization = organizationOf(visitor);
    return deletePage(organization, await this.teams.get(organization.id, id), Form.empty());
  }

  @Post(':id/delete')
  @Allows('manage organization')
  async delete(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const organization = organizationOf(visitor);
    const team = await this.teams.get(organization.id, id);
    const form = Form.read(ConfirmNameForm, body);
    if (isInUse(team) && form.value?.confirm.trim() !== team.name)
      form.refuse('confirm', `Enter the team’s name, ${team.name}, to delete it.`);
    if (form.refused) return deletePage(organization, team, form);
    await this.teams.delete(organization, id);
    return new Redirect(PATH, { tone: 'ok', title: `Team “${team.name}” deleted` });
  }

  private formPage(visitor: Visitor, form: Form<TeamForm>, team: Team | undefined): Page {
    const organization = organizationOf(visitor);
    const title = team?.name ?? 'New team';
    return new Page('organizations/team', {
      title,
      width: 'narrow',
      data: {
        form,
        title,
        team: team && { ...teamRow(team), ...listsOf(team) },
        budgets: team && budgetRows(team.budgets, true),
        mayManage: allows(organization, 'manage organization'),
        ...this.choices(visitor, team),
        crumbs: crumbs(organization, { href: PATH, label: 'Teams' }, { label: title }),
      },
    });
  }

  /** Options, including those of the team that are no longer offered. */
  private choices(visitor: Visitor, team: Team | undefined) {
    const groups = this.offer.groupsFor(visitor).map(({ name }) => name);
    const models = groups.flatMap((group) => this.offer.modelsOf(group).map(({ model }) => model.name));
    const options = (offered: readonly string[], chosen: readonly string[] = []) =>
      [...new Set([...offered, ...chosen])].map((value) => ({ value, label: value }));
    return { groups: options(groups, team?.groups), models: options(models, team?.models) };
  }
}

const isInUse = ({ members, keys }: Team): boolean => members + keys > 0;

const listsOf = ({ models, groups, networks }: Team) => ({
  models: models?.join(', ') ?? 'All',
  groups: groups?.join(', ') ?? 'All',
  networks: networks?.join(', ') ?? 'Any',
});

const teamRow = (team: Team) => ({
  id: team.id,
  name: team.name,
  members: team.members,
  keys: team.keys,
  version: team.version,
  narrows: restrictionsOf(team),
  spent: team.budgets.monthly.used,
  budgets: budgetRows(team.budgets),
});

const deletePage = (organization: OrganizationScope, team: Team, form: Form<ConfirmNameForm>): Page =>
  new Page('organizations/team-delete', {
    title: `Delete “${team.name}”?`,
    width: 'narrow',
    data: {
      form,
      team: teamRow(team),
      isInUse: isInUse(team),
      crumbs: crumbs(
        organization,
        { href: PATH, label: 'Teams' },
        { href: `${PATH}/${team.id}`, label: team.name },
        { label: 'Delete' },
      ),
    },
  });
