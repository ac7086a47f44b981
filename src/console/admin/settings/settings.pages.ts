import { Injectable } from '@nestjs/common';
import { ConfirmedForm, RecentSignIn, type Visitor } from '../../../auth/index.js';
import {
  InvalidSettings,
  SECTION_NAMES,
  type SectionName,
  sectionOf,
  SettingsChangedMeanwhile,
  SettingsEditor,
} from '../../../platform/settings/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { type Difference, type Flash, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { SectionFacts } from './section-facts.js';
import { differencesOf, fieldsOf, readForm, type SectionForm, valuesOf } from './section-form.js';

export const SETTINGS_PATH = '/admin/settings';
export const LIMITS_PATH = `${SETTINGS_PATH}/limits`;

export const PROVIDERS_PATH = `${SETTINGS_PATH}/providers`;
export const TOKEN_ISSUERS_PATH = `${SETTINGS_PATH}/token-issuers`;

export const pathOf = (name: SectionName): string => `${SETTINGS_PATH}/${sectionOf(name).path}`;

/** Links to all settings pages. @param path that of the page */
export const settingsLinks = (path: string) =>
  [
    ...SECTION_NAMES.map((name) => ({ href: pathOf(name), label: sectionOf(name).title })),
    { href: PROVIDERS_PATH, label: 'Sign-in providers' },
    { href: TOKEN_ISSUERS_PATH, label: 'Token issuers' },
    { href: LIMITS_PATH, label: 'Default limits' },
  ].map((link) => ({ ...link, current: link.href === path }));

/** A rejected form, shown again. */
interface SettingsPageOptions {
  readonly form?: Form<SectionForm>;
  /** Conflicting changes saved meanwhile. */
  readonly differences?: readonly Difference[];
  /** Another form of the page. */
  readonly test?: Form<object>;
}

/** `/admin/settings/:section`: a page with one form per section. */
@Injectable()
export class SettingsPages {
  constructor(
    private readonly editor: SettingsEditor,
    private readonly recent: RecentSignIn,
    private readonly facts: SectionFacts,
  ) {}

  /** @throws AppError if there is no such section */
  showAt(visitor: Visitor, path: string): Promise<Page> {
    const name = SECTION_NAMES.find((one) => sectionOf(one).path === path);
    if (name === undefined) throw new AppError('not_found', `There are no settings for “${path}”.`);
    return this.show(visitor, name);
  }

  async show(
    visitor: Visitor,
    name: SectionName,
    { form, differences, test }: SettingsPageOptions = {},
  ): Promise<Page> {
    const { title, path, text, isConfirmed } = sectionOf(name);
    const stored = await this.editor.section(name);
    const fields = fieldsOf(name, stored);
    const refused = form ?? test;
    return new Page('admin/settings', {
      title: `${title} settings`,
      width: 'narrow',
      ...(differences && { status: 409 }),
      data: {
        ...(refused && { form: refused }),
        links: settingsLinks(pathOf(name)),
        differences,
        section: {
          title,
          path,
          text,
          save: fields.every(({ isFixed }) => isFixed) ? undefined : `Save ${title.toLowerCase()} settings`,
          fields,
          form: form ?? Form.empty<SectionForm>(valuesOf(name, stored)),
          // The revision that the form was opened with, unless the current values are shown beside it.
          revision: form === undefined || differences ? stored.revision : form.values['revision'],
          confirm: isConfirmed && this.recent.needed(visitor),
        },
        ...this.facts.of(name, visitor, test),
      },
    });
  }

  async save(visitor: Visitor, name: SectionName, body: FormBody): Promise<Page | Redirect> {
    const form = readForm(name, body);
    try {
      const lines = await form.attempt((value) => this.change(visitor, name, form, value));
      return lines === undefined
        ? await this.show(visitor, name, { form })
        : new Redirect(pathOf(name), savedFlash(`${sectionOf(name).title} settings saved`, lines));
    } catch (error) {
      if (!(error instanceof SettingsChangedMeanwhile)) throw error;
      const differences = differencesOf(name, valuesOf(name, await this.editor.section(name)), form.values);
      return this.show(visitor, name, { form, differences });
    }
  }

  private async change(
    visitor: Visitor,
    name: SectionName,
    form: Form<SectionForm>,
    value: SectionForm,
  ): Promise<readonly string[] | undefined> {
    const { revision, ...typed } = value;
    if (value instanceof ConfirmedForm) await this.recent.confirm(visitor, value.password);
    try {
      return await this.editor.change(name, Number(revision), typed);
    } catch (error) {
      if (!(error instanceof InvalidSettings)) throw error;
      Object.assign(form.errors, error.errors);
      return undefined;
    }
  }
}

/** Flash messages are stored in a cookie. */
const MAX = 300;

export function savedFlash(title: string, lines: readonly string[]): Flash {
  const text = lines.length === 0 ? 'No changes to save' : lines.join('; ');
  return { tone: 'ok', title, text: text.length > MAX ? `${text.slice(0, MAX)}…` : `${text}.` };
}
