import { Injectable } from '@nestjs/common';
import { ConfirmedForm, RecentSignIn, type Visitor } from '../../../auth/index.js';
import {
  type EditedSection,
  InvalidSettings,
  type SectionName,
  type Sections,
  Settings,
  SettingsChangedMeanwhile,
  SettingsEditor,
} from '../../../platform/settings/index.js';
import { type Difference, type Flash, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { SectionFacts } from './section-facts.js';
import { differencesOf } from './settings-conflict.js';
import { SECTION_FORMS, type SectionForm, type TestMailForm } from './settings.form.js';
import { type FixedField, fixedFields, MODES, valuesOf, withoutPassword } from './settings.view.js';
import { type FilledLimits, DefaultLimitSettings } from './default-limits.js';

/** A submitted section form that is shown again. */
interface Filled {
  readonly name: SectionName;
  readonly form: Form<SectionForm>;
  /** Whether the current values are shown beside it. */
  readonly conflict: boolean;
}

/** The submitted form that is shown again, if any. */
interface Returned {
  readonly section?: Filled;
  readonly limits?: FilledLimits;
  readonly test?: Form<TestMailForm>;
  /** Conflicting changes saved meanwhile. */
  readonly differences?: readonly Difference[];
}

/** A section as its form shows it. */
interface SectionView {
  readonly form: Form<SectionForm>;
  readonly revision: unknown;
  readonly fixed: Readonly<Record<string, FixedField>>;
}

const TITLES: Readonly<Record<SectionName, string>> = {
  site: 'Site',
  signUp: 'Sign-up',
  mail: 'Email',
  payment: 'Payment',
  retention: 'Retention',
};

/** `/admin/settings`: one form per section, saved separately. */
@Injectable()
export class SettingsPages {
  constructor(
    private readonly editor: SettingsEditor,
    private readonly settings: Settings,
    private readonly recent: RecentSignIn,
    private readonly limits: DefaultLimitSettings,
    private readonly facts: SectionFacts,
  ) {}

  async show(visitor: Visitor, { section, limits, test, differences }: Returned = {}): Promise<Page> {
    const form = section?.form ?? limits?.form ?? test;
    return new Page('admin/settings', {
      title: 'Settings',
      width: 'narrow',
      ...(differences && { status: 409 }),
      data: {
        ...(form && { form }),
        ids: limits ? idsOf(limits) : section && IDS[section.name],
        differences,
        site: await this.section('site', section),
        signUp: await this.section('signUp', section, () => ({ modes: MODES, confirm: this.recent.needed(visitor) })),
        mail: await this.section('mail', section, (value) => this.facts.mail(visitor, value)),
        payment: await this.section('payment', section, (value) => this.facts.payment(visitor, value)),
        retention: await this.section('retention', section, () => this.facts.retention()),
        limits: await this.limits.views(limits),
        test: test ?? Form.empty<TestMailForm>({ to: visitor.email }),
      },
    });
  }

  async save(visitor: Visitor, name: SectionName, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read<SectionForm>(SECTION_FORMS[name], name === 'mail' ? parted(body) : body);
    try {
      const lines = await form.attempt((value) => this.change(visitor, name, form, value));
      return lines === undefined
        ? await this.show(visitor, { section: { name, form, conflict: false } })
        : new Redirect('/admin/settings', told(name, lines));
    } catch (error) {
      if (!(error instanceof SettingsChangedMeanwhile)) throw error;
      const { value } = await this.editor.section(name);
      const differences = differencesOf(name, valuesOf(name, value), form.values);
      return this.show(visitor, { section: { name, form, conflict: true }, differences });
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
      Object.assign(form.errors, error.faults);
      return undefined;
    }
  }

  private async section<Name extends SectionName>(
    name: Name,
    filled: Filled | undefined,
    facts: (value: Sections[Name]) => object = () => ({}),
  ): Promise<SectionView> {
    const stored = await this.editor.section(name);
    return { ...this.view(name, stored, filled), ...facts(stored.value) };
  }

  private view<Name extends SectionName>(
    name: Name,
    { value, revision, fixed }: EditedSection<Name>,
    filled: Filled | undefined,
  ): SectionView {
    const here = filled?.name === name ? filled : undefined;
    return {
      form: here?.form ?? Form.empty<SectionForm>(valuesOf(name, value)),
      // The revision the form was opened with, unless the current values are shown beside it.
      revision: here === undefined || here.conflict ? revision : here.form.values['revision'],
      fixed: fixedFields(fixed, this.settings.current()),
    };
  }
}

/** Control ids of fields whose name occurs in several sections. */
const IDS: Readonly<Partial<Record<SectionName, Readonly<Record<string, string>>>>> = {
  signUp: { password: 'sign-up-password' },
  payment: { password: 'payment-password' },
};

/** Each kind has its own controls. */
const idsOf = ({ kind, form }: FilledLimits): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(form.errors).map((field) => [field, `${kind}-${field}`]));

/** Moves a password pasted with the SMTP URL into its own field, so that it is never displayed. */
function parted(body: FormBody): FormBody {
  const { server: typed, serverPassword } = body;
  if (typeof typed !== 'string') return body;
  const { server, password } = withoutPassword(typed.trim());
  return { ...body, server, ...(password && !serverPassword && { serverPassword: password }) };
}

/** Flash messages are stored in a cookie. */
const MAX = 300;

function told(name: SectionName, lines: readonly string[]): Flash {
  const text = lines.length === 0 ? 'No changes to save' : lines.join('; ');
  return {
    tone: 'ok',
    title: `${TITLES[name]} settings saved`,
    text: text.length > MAX ? `${text.slice(0, MAX)}…` : `${text}.`,
  };
}
