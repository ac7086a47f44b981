import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { RefusedEntries } from '../../../catalog/channels/index.js';
import { Form, type FormBody, keepsSecret, type Page } from '../../web/index.js';
import { refuse } from './channel-errors.js';
import { ChannelForm } from './channel-form.js';
import { ChannelFormPages } from './channel-form.pages.js';
import { ChannelQuestions, ChannelView, type CheckView, type OfferedNames } from './channel-view.js';
import { editedFrom, sendsSecretsElsewhere } from './channel-values.js';
import {
  rowsIn,
  withAdopted,
  withCredential,
  withFlagsApart,
  withoutCredential,
  withoutRow,
  withRow,
} from './form-rows.js';

/** Buttons that query the upstream. */
type UpstreamButton = 'check' | 'models';

/** The buttons of the channel form that do not save. */
@Injectable()
export class ChannelActions {
  constructor(
    private readonly forms: ChannelFormPages,
    private readonly questions: ChannelQuestions,
    private readonly recent: RecentSignIn,
    private readonly view: ChannelView,
  ) {}

  /** Undefined if the form is to be saved. @param id undefined for a new channel */
  async answer(visitor: Visitor, body: FormBody, id: string | undefined): Promise<Page | undefined> {
    const [act = '', number = ''] = String(body['_act'] ?? '').split(':');
    switch (act) {
      case 'again':
        return this.forms.again(visitor, body, id);
      case 'row':
        return this.forms.again(visitor, withRow(body), id);
      case 'remove':
        return this.forms.again(visitor, withoutRow(body, Number(number)), id);
      case 'credential':
        return this.forms.again(visitor, withCredential(body), id);
      case 'drop':
        return this.forms.again(visitor, withoutCredential(body, Number(number)), id);
      case 'adopt':
        return this.forms.again(visitor, withAdopted(body), id);
      case 'check':
      case 'models':
        return this.ask(act, visitor, body, id);
      default:
        return undefined;
    }
  }

  private async ask(question: UpstreamButton, visitor: Visitor, body: FormBody, id: string | undefined): Promise<Page> {
    const stored = await this.forms.storedFor(body, id);
    const form = Form.read(ChannelForm, withFlagsApart(body));
    // The name is not needed to query the upstream.
    delete form.errors['name'];
    const response = await form.attempt(async (value) => {
      const edited = editedFrom(value, body, stored, id);
      // A password that was typed with a secret counts for the buttons that follow.
      if (value.password !== '' || keepsSecret(body) || sendsSecretsElsewhere(edited, stored))
        await this.recent.confirm(visitor, value.password);
      try {
        return await this.answerTo(question, value, body, edited);
      } catch (error) {
        if (!(error instanceof RefusedEntries)) throw error;
        refuse(form, error.errors);
        return undefined;
      }
    });
    return this.view.page(visitor, { form, body, stored, isNew: id === undefined, ...response });
  }

  private async answerTo(
    question: UpstreamButton,
    value: ChannelForm,
    body: FormBody,
    edited: ReturnType<typeof editedFrom>,
  ): Promise<{ check?: CheckView; offered?: OfferedNames } | undefined> {
    const names = rowsIn(value).map((row) => row.upstream || row.public);
    if (question === 'models') return { offered: await this.questions.models(edited, names) };
    const chosen = names.find((name) => name === body['_checkModel']) ?? names[0];
    if (chosen !== undefined) return { check: await this.questions.check(edited, chosen) };
    throw new RefusedEntries([{ path: 'channels[0].models', message: 'needs at least one model to check' }]);
  }
}
