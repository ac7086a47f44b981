import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import { ChannelChanges } from '../../../catalog/channels/index.js';
import { CurrentVisitor, type FormBody, type Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { ChannelActions } from './channel-actions.js';
import { ChannelDeletePages } from './channel-delete.pages.js';
import { ChannelFormPages } from './channel-form.pages.js';

/** One channel. */
@Operator()
@Controller('admin/channels/:id')
export class ChannelController {
  constructor(
    private readonly desk: ChannelChanges,
    private readonly forms: ChannelFormPages,
    private readonly actions: ChannelActions,
    private readonly deletion: ChannelDeletePages,
  ) {}

  @Get()
  edit(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.forms.edit(visitor, id);
  }

  @Post()
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return (await this.actions.answer(visitor, body, id)) ?? this.forms.save(visitor, id, body);
  }

  @Post('off')
  @RequiresRecentSignIn()
  async switchOff(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.desk.find(id);
    await this.desk.setEnabled(id, false);
    const text = 'In-flight requests will finish. No new requests are routed here until you re-enable it.';
    return new Redirect(`/admin/channels/${id}`, { tone: 'ok', title: `Channel “${name}” disabled`, text });
  }

  @Post('on')
  @RequiresRecentSignIn()
  async switchOn(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.desk.find(id);
    await this.desk.setEnabled(id, true);
    const text = 'It receives calls within a second.';
    return new Redirect(`/admin/channels/${id}`, { tone: 'ok', title: `Channel “${name}” enabled`, text });
  }

  @Get('delete')
  askToDelete(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.deletion.ask(visitor, id);
  }

  @Post('delete')
  delete(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.deletion.delete(visitor, id, body);
  }
}
