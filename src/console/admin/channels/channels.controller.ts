import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Operator } from '../../access/index.js';
import { CurrentVisitor, type FormBody, OnceForms, Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import type { ListQuery } from '../list-address.js';
import { ChannelActions } from './channel-actions.js';
import { ChannelFormPages } from './channel-form.pages.js';
import { ChannelListPages } from './channel-list.pages.js';

/** The channel list, and adding a channel. */
@Operator()
@Controller('admin/channels')
export class ChannelsController {
  constructor(
    private readonly lists: ChannelListPages,
    private readonly forms: ChannelFormPages,
    private readonly actions: ChannelActions,
    private readonly once: OnceForms,
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
  async create(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
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
