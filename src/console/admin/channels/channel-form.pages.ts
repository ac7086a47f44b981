import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { ChangedMeanwhile, ChannelChanges, type ChannelRecord } from '../../../catalog/channels/index.js';
import { type Flash, Form, type FormBody, type Page, Redirect } from '../../web/index.js';
import { differencesOf } from './channel-errors.js';
import { ChannelForm } from './channel-form.js';
import { editedFrom, newValues, valuesOf } from './channel-values.js';
import { ChannelView } from './channel-view.js';
import { ChannelWriter } from './channel-writer.js';
import { visibleFields, withFlagsApart } from './form-rows.js';

/** Preselected in an empty form. */
const FIRST_PROTOCOL = 'chat-completions';

/** The form of a new or existing channel. */
@Injectable()
export class ChannelFormPages {
  constructor(
    private readonly service: ChannelChanges,
    private readonly recent: RecentSignIn,
    private readonly view: ChannelView,
    private readonly writer: ChannelWriter,
  ) {}

  /** @param from the id of the channel to duplicate; credentials are not copied */
  async newChannel(visitor: Visitor, from?: string): Promise<Page> {
    const like = from === undefined ? undefined : await this.service.find(from);
    const values = like && { ...valuesOf(like), name: `${like.name} copy`, held: [''], revision: '' };
    return this.view.page(visitor, {
      form: Form.empty<ChannelForm>(values ?? newValues(FIRST_PROTOCOL)),
      stored: like,
      isNew: true,
    });
  }

  async edit(visitor: Visitor, id: string): Promise<Page> {
    const stored = await this.service.find(id);
    return this.view.page(visitor, { form: Form.empty<ChannelForm>(valuesOf(stored)), stored, isNew: false });
  }

  /** Shows the typed values again without validating or saving. */
  async again(visitor: Visitor, body: FormBody, id: string | undefined): Promise<Page> {
    const stored = await this.storedFor(body, id);
    return this.view.page(visitor, { form: Form.empty(visibleFields(body)), body, stored, isNew: id === undefined });
  }

  /** The id of the new channel, or the form with errors. */
  async create(visitor: Visitor, body: FormBody): Promise<{ readonly id: string } | Page> {
    const like = await this.storedFor(body, undefined);
    const form = Form.read(ChannelForm, withFlagsApart(body));
    const saved = await this.attempt(visitor, form, body, like, undefined);
    return saved ?? this.view.page(visitor, { form, body, stored: like, isNew: true });
  }

  async save(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const stored = await this.service.find(id);
    const form = Form.read(ChannelForm, withFlagsApart(body));
    try {
      const saved = await this.attempt(visitor, form, body, stored, id);
      if (saved !== undefined) return new Redirect(`/admin/channels/${id}`, reported(form, saved.changes.length));
      return this.view.page(visitor, { form, body, stored, isNew: false });
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      return this.conflict(visitor, id, form, body);
    }
  }

  /** The channel that the form edits or duplicates. */
  storedFor({ _from: from }: FormBody, id: string | undefined): Promise<ChannelRecord> | undefined {
    const wanted = id ?? from;
    return typeof wanted === 'string' && wanted !== '' ? this.service.find(wanted) : undefined;
  }

  /** Undefined if the form was rejected. @throws ChangedMeanwhile */
  private attempt(
    visitor: Visitor,
    form: Form<ChannelForm>,
    body: FormBody,
    stored: ChannelRecord | undefined,
    id: string | undefined,
  ) {
    return form.attempt(async (value) => {
      const edited = editedFrom(value, body, stored, id);
      await this.recent.confirm(visitor, value.password);
      return this.writer.save(form, edited, body);
    });
  }

  /** Shows conflicting changes next to the typed values, for another attempt. */
  private async conflict(visitor: Visitor, id: string, typed: Form<ChannelForm>, body: FormBody): Promise<Page> {
    const stored = await this.service.find(id);
    const differences = differencesOf(stored, typed.values, body);
    const held = valuesOf(stored)['held'] ?? [];
    const form = Form.empty<ChannelForm>({ ...typed.values, held, revision: stored.revision });
    return this.view.page(visitor, { form, body, stored, isNew: false, differences });
  }
}

const reported = ({ value }: Form<ChannelForm>, changes: number): Flash => ({
  tone: 'ok',
  title: `Channel “${value?.name.trim() ?? ''}” saved`,
  text: changes === 0 ? 'No changes to save.' : 'Changes take effect within a second.',
});
