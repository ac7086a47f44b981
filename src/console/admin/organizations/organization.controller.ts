import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { AccountChangedMeanwhile, AccountStatus, RecentSignIn, type Visitor } from '../../../auth/index.js';
import { Organizations } from '../../../keys/organizations/index.js';
import { WalletInUse } from '../../../wallet/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { accountPath, type ListQuery } from '../list-address.js';
import { UserChoices } from '../users/user-facts.js';
import { SettingsForm } from '../users/user-forms.js';
import { OrganizationDeletePages, OrganizationPages } from './organization.pages.js';
import { DeleteOrganizationForm } from './organization.view.js';

type OrganizationPageResult = Promise<Page | Redirect>;

/** One organization: page, group and limits, suspension. Its wallet and keys have the pages of those of users. */
@Controller('admin/organizations/:id')
@Administrator()
export class AdminOrganizationController {
  constructor(
    private readonly pages: OrganizationPages,
    private readonly choices: UserChoices,
    private readonly status: AccountStatus,
  ) {}

  @Get()
  show(@Param('id') id: string, @Query() query: ListQuery): Promise<Page> {
    return this.pages.show(id, query);
  }

  @Post('settings')
  @RequiresRecentSignIn()
  async settings(@Param('id') id: string, @Body() body: FormBody): OrganizationPageResult {
    await this.pages.findPresent(id);
    const form = Form.read(SettingsForm, body);
    try {
      const done = await form.attempt((value) => this.choices.setTerms(id, value));
      if (done === undefined) return await this.pages.show(id, {}, { form });
    } catch (error) {
      if (!(error instanceof AccountChangedMeanwhile)) throw error;
      return this.pages.show(id, {}, { form, conflict: true });
    }
    const text = 'Changes apply from the next call.';
    return new Redirect(accountPath(id), { tone: 'ok', title: 'Group and limits saved', text });
  }

  @Post('suspend')
  @RequiresRecentSignIn()
  async suspend(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.pages.findPresent(id);
    await this.status.disable(id);
    const text = 'Its API keys are rejected, and its members work in their own accounts.';
    return new Redirect(accountPath(id), { tone: 'ok', title: `${name} suspended`, text });
  }

  @Post('enable')
  @RequiresRecentSignIn()
  async enable(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.pages.findPresent(id);
    await this.status.enable(id);
    const text = 'Its API keys and members are accepted again.';
    return new Redirect(accountPath(id), { tone: 'ok', title: `${name} reinstated`, text });
  }
}

/** `/admin/organizations/:id/delete` */
@Controller('admin/organizations/:id/delete')
@Administrator()
export class OrganizationDeleteController {
  constructor(
    private readonly organizations: OrganizationPages,
    private readonly pages: OrganizationDeletePages,
    private readonly deletion: Organizations,
    private readonly recent: RecentSignIn,
  ) {}

  @Get()
  async confirm(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.pages.page(visitor, await this.organizations.findPresent(id), Form.empty());
  }

  @Post()
  async delete(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): OrganizationPageResult {
    const organization = await this.organizations.findPresent(id);
    const { name } = organization;
    const form = Form.read(DeleteOrganizationForm, body);
    if (form.value?.confirm !== name) form.refuse('confirm', `Enter ${name} to confirm.`);
    const done = await form.attempt(({ password }) => this.deleted(visitor, id, password, form));
    if (done !== true) return this.pages.page(visitor, organization, form);
    const text = 'Usage logs and the ledger are kept. Members keep their own accounts.';
    return new Redirect('/admin/organizations', { tone: 'ok', title: `${name} deleted`, text });
  }

  /** Running calls become an error of the confirmation field. */
  private async deleted(
    visitor: Visitor,
    id: string,
    password: string,
    form: Form<DeleteOrganizationForm>,
  ): Promise<boolean> {
    await this.recent.confirm(visitor, password);
    try {
      await this.deletion.delete({ id, memberId: undefined });
      return true;
    } catch (error) {
      if (!(error instanceof WalletInUse)) throw error;
      form.refuse('confirm', error.message);
      return false;
    }
  }
}
