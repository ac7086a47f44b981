import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { ConfirmedForm, RecentSignIn, type Visitor } from '../../../auth/index.js';
import { ChannelChanges, type ChannelRecord } from '../../../catalog/channels/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { ChannelFiguresReader } from './channel-figures.js';

class ConfirmForm extends ConfirmedForm {
  @IsString()
  readonly confirm: string = '';
}

interface Found {
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
    private readonly desk: ChannelChanges,
    private readonly figures: ChannelFiguresReader,
    private readonly recent: RecentSignIn,
  ) {}

  async ask(visitor: Visitor, id: string): Promise<Page> {
    return this.page(visitor, await this.find(id), Form.empty<ConfirmForm>());
  }

  async delete(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const found = await this.find(id);
    const form = Form.read(ConfirmForm, body);
    const { name } = found.channel;
    if (found.used !== 0 && form.value?.confirm.trim() !== name) form.refuse('confirm', `Enter ${name} to confirm.`);
    const done = await form.attempt(async ({ password }) => {
      await this.recent.confirm(visitor, password);
      await this.desk.delete(id);
      return true;
    });
    if (done !== true) return this.page(visitor, found, form);
    const text = 'In-flight requests will finish. No new requests are routed here.';
    return new Redirect('/admin/channels', { tone: 'ok', title: `Channel “${name}” deleted`, text });
  }

  private async find(id: string): Promise<Found> {
    const channel = await this.desk.find(id);
    const attempts = await this.figures.lastDay();
    const rows = [channel.name, ...channel.formerNames].flatMap((name) => attempts?.get(name) ?? []);
    return { channel, used: attempts && (this.figures.figuresOf(rows)?.judged ?? 0) };
  }

  private page(visitor: Visitor, { channel, used }: Found, form: Form<ConfirmForm>): Page {
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
