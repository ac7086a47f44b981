import { Injectable } from '@nestjs/common';
import { ChangedMeanwhile } from '../../../catalog/channels/index.js';
import { DEFAULT_LIMITED } from '../../../platform/limits/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { Form, type FormBody, type Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { sentDifferences } from './settings-conflict.js';
import { SettingsPages } from './settings.pages.js';
import { LIMIT_LABELS, DefaultLimitsForm } from './default-limits.form.js';
import { DefaultLimitSettings } from './default-limits.js';

/** Saves default limits from the settings page. */
@Injectable()
export class DefaultLimitPages {
  constructor(
    private readonly limits: DefaultLimitSettings,
    private readonly pages: SettingsPages,
  ) {}

  /** @throws AppError if there is no such kind */
  async save(visitor: Visitor, named: string, body: FormBody): Promise<Page | Redirect> {
    const kind = DEFAULT_LIMITED.find((one) => one === named);
    if (kind === undefined) throw new AppError('not_found', `There are no default limits for “${named}”.`);
    const form = Form.read(DefaultLimitsForm, body);
    try {
      const lines = await form.attempt((value) => this.limits.save(kind, value));
      if (lines === undefined) return await this.pages.show(visitor, { limits: { kind, form, conflict: false } });
      const text = lines.length === 0 ? 'No changes to save.' : `${lines.join('; ')}.`;
      return new Redirect('/admin/settings', { tone: 'ok', title: 'Default limits saved', text });
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      const differences = sentDifferences(LIMIT_LABELS, await this.limits.now(kind), form.values);
      return this.pages.show(visitor, { limits: { kind, form, conflict: true }, differences });
    }
  }
}
