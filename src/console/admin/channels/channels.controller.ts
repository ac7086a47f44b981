import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import { IsString } from 'class-validator';
import { ConfirmedForm, RecentSignIn, type Visitor } from '../../../auth/index.js';
import { ChannelChanges, type ChannelRecord } from '../../../catalog/channels/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import {
  CurrentVisitor,
  Form,
  type FormBody,
  IdempotentForms,
  Page,
  Redirect,
  SealedSecrets,
} from '../../web/index.js';
import type { ListQuery } from '../list-address.js';
import { ChannelActions } from './channel-actions.js';
import { ChannelFiguresReader } from './channel-figures.js';
import { ChannelFormPages } from './channel-form.pages.js';
import { ChannelListPages } from './channel-list.pages.js';

/** The channel list, and adding a channel. */
@Administrator()
@Controller('admin/channels')
export class ChannelsController {
  constructor(
    private readonly lists: ChannelListPages,
    private readonly forms: ChannelFormPages,
    private readonly actions: ChannelActions,
    private readonly once: IdempotentForms,
    private readonly secrets: SealedSecrets,
  ) {}

  @Get()
  list(@Query() query: ListQuery): Promise<Page> {
    return this.lists.list(query);
  }

  @Get('new')
  newChannel(@CurrentVisitor() visitor: Visitor, @Query('from') from?: string): Promise<Page> {
    return this.forms.newChannel(visitor, from);
  }

  @Post('new')
  async create(@CurrentVisitor() visitor: Visitor, @Body() sent: FormBody): Promise<Page | Redirect> {
    const body = this.secrets.reopened(visitor, 'new channel', sent);
    const answered = await this.actions.answer(visitor, body, undefined);
    if (answered !== undefined) return answered;
    let refused: Page | undefined;
    const create = async (): Promise<{ readonly id: string } | undefined> => {
      const made = await this.forms.create(visitor, body);
      if (!(made instanceof Page)) return made;
      refused = made;
      return undefined;
    };
    const result = await this.once.run(visitor.accountId, body, create, ({ id }) => `/admin/channels/${id}`);
    if (result === undefined && refused !== undefined) return refused;
    return new Redirect(result?.location ?? '/admin/channels', ADDED);
  }
}

const ADDED = { tone: 'ok', title: 'Channel added', text: 'It receives calls within a second.' } as const;

class ConfirmForm extends ConfirmedForm {
  @IsString()
  readonly confirm: string = '';
}

interface ChannelInUse {
  readonly channel: ChannelRecord;
  /** Attempts in the last 24 hours; undefined: the query timed out. */
  readonly used: number | undefined;
}

/**
 * `/admin/channels/:id/delete`: the name must be typed if the channel is in use. Requires a recent sign-in, since the
 * credentials are erased.
 */
@Injectable()
export class ChannelDeletePages {
  constructor(
    private readonly service: ChannelChanges,
    private readonly figures: ChannelFiguresReader,
    private readonly recent: RecentSignIn,
  ) {}

  async showForm(visitor: Visitor, id: string): Promise<Page> {
    return this.page(visitor, await this.find(id), Form.empty<ConfirmForm>());
  }

  async delete(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const found = await this.find(id);
    const form = Form.read(ConfirmForm, body);
    const { name } = found.channel;
    if (found.used !== 0 && form.value?.confirm.trim() !== name) form.refuse('confirm', `Enter ${name} to confirm.`);
    const done = await form.attempt(async ({ password }) => {
      await this.recent.confirm(visitor, password);
      await this.service.delete(id);
      return true;
    });
    if (done !== true) return this.page(visitor, found, form);
    const text = 'In-flight requests will finish. No new requests are routed to it.';
    return new Redirect('/admin/channels', { tone: 'ok', title: `Channel “${name}” deleted`, text });
  }

  private async find(id: string): Promise<ChannelInUse> {
    const channel = await this.service.find(id);
    const attempts = await this.figures.lastDay();
    const rows = [channel.name, ...channel.formerNames].flatMap((name) => attempts?.get(name) ?? []);
    return { channel, used: attempts && (this.figures.figuresOf(rows)?.judged ?? 0) };
  }

  private page(visitor: Visitor, { channel, used }: ChannelInUse, form: Form<ConfirmForm>): Page {
    const { id, name, models } = channel;
    return new Page('admin/channel-delete', {
      title: `Delete “${name}”?`,
      width: 'narrow',
      data: {
        channel: { id, name },
        models: Object.keys(models).length,
        used,
        inUse: used !== 0,
        form,
        passwordNeeded: this.recent.needed(visitor),
        crumbs: [
          { href: '/admin/channels', label: 'Channels' },
          { href: `/admin/channels/${id}`, label: name },
          { label: 'Delete' },
        ],
      },
    });
  }
}

/** One channel. */
@Administrator()
@Controller('admin/channels/:id')
export class ChannelController {
  constructor(
    private readonly service: ChannelChanges,
    private readonly forms: ChannelFormPages,
    private readonly actions: ChannelActions,
    private readonly deletion: ChannelDeletePages,
    private readonly secrets: SealedSecrets,
  ) {}

  @Get()
  edit(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.forms.edit(visitor, id);
  }

  @Post()
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() sent: FormBody,
  ): Promise<Page | Redirect> {
    const body = this.secrets.reopened(visitor, id, sent);
    return (await this.actions.answer(visitor, body, id)) ?? this.forms.save(visitor, id, body);
  }

  @Post('off')
  @RequiresRecentSignIn()
  async switchOff(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.service.find(id);
    await this.service.setEnabled(id, false);
    const text = 'In-flight requests will finish. No new requests are routed here until you re-enable it.';
    return new Redirect(`/admin/channels/${id}`, { tone: 'ok', title: `Channel “${name}” disabled`, text });
  }

  @Post('on')
  @RequiresRecentSignIn()
  async switchOn(@Param('id') id: string): Promise<Redirect> {
    const { name } = await this.service.find(id);
    await this.service.setEnabled(id, true);
    const text = 'It receives calls within a second.';
    return new Redirect(`/admin/channels/${id}`, { tone: 'ok', title: `Channel “${name}” enabled`, text });
  }

  @Get('delete')
  confirmDeletion(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.deletion.showForm(visitor, id);
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
