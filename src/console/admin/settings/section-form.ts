import { IsString, Matches } from 'class-validator';
import { ConfirmedForm } from '../../../auth/index.js';
import {
  type Control,
  type EditedSection,
  inputOf,
  isSecret,
  SECTION_NAMES,
  type SecretSetting,
  type SecretState,
  type SectionName,
  sectionOf,
  type Setting,
  withoutPassword,
} from '../../../platform/settings/index.js';
import { type Difference, differencesBetween, type FieldValue, Form, type FormBody } from '../../web/index.js';

// The form of a section, derived from the declarations of its settings.

const Revision = (): PropertyDecorator =>
  Matches(/^\d{1,9}$/, { message: 'This form is incomplete. Reload the page and try again.' });

/** A section as typed: its fields by name, validated by the section. */
export class SectionForm {
  /** Revision of the section that the form was opened with. */
  @Revision()
  readonly revision: string = '';
}

/** With the password of the administrator. */
class ConfirmedSectionForm extends ConfirmedForm {
  @Revision()
  readonly revision: string = '';
}

/** A form class with a text field per setting. Overridden settings and cleared checkboxes are not sent. */
function formClass(name: SectionName): new () => SectionForm {
  const { settings, isConfirmed } = sectionOf(name);
  const inputs = Object.entries(settings).flatMap(([key, setting]) => [
    inputOf(key, setting),
    ...(isSecret(setting) && setting.removal !== undefined ? [setting.removal.input] : []),
  ]);
  class Fields extends (isConfirmed ? ConfirmedSectionForm : SectionForm) {
    constructor() {
      super();
      Object.assign(this, Object.fromEntries(inputs.map((input) => [input, ''])));
    }
  }
  for (const input of inputs) IsString({ message: 'Enter a single value.' })(Fields.prototype, input);
  return Fields;
}

/** Once: class-validator keeps the rules of a class forever. */
const FORMS: ReadonlyMap<SectionName, new () => SectionForm> = new Map(
  SECTION_NAMES.map((name) => [name, formClass(name)]),
);

export const readForm = (name: SectionName, body: FormBody): Form<SectionForm> =>
  Form.read<SectionForm>(FORMS.get(name) ?? SectionForm, name === 'mail' ? withPasswordApart(body) : body);

/** Form values of a stored section; secrets are never shown. */
export function valuesOf<Name extends SectionName>(
  name: Name,
  { value }: Pick<EditedSection<Name>, 'value'>,
): FormBody {
  const stored: Readonly<Record<string, unknown>> = value;
  return Object.fromEntries(
    Object.entries(sectionOf(name).settings).flatMap(([key, setting]) =>
      isSecret(setting) ? [] : [[key, setting.toForm(stored[key])]],
    ),
  );
}

/** The template of each control. */
const PARTIALS: Readonly<Record<Control, string>> = {
  text: 'field',
  textarea: 'textarea',
  number: 'field',
  amount: 'amount-field',
  checkbox: 'check',
  select: 'select',
  secret: 'admin/settings-secret',
};

/** A field as the template shows it: the parameters of its partial. */
interface FieldView {
  readonly partial: string;
  readonly isFixed: boolean;
  readonly [parameter: string]: unknown;
}

/** Fields of a section, overridden ones read-only; each environment variable has one field. */
export function fieldsOf<Name extends SectionName>(
  name: Name,
  { fixed, secrets }: EditedSection<Name>,
): readonly FieldView[] {
  const shown = new Set<string>();
  return Object.entries(sectionOf(name).settings).flatMap(([key, setting]): readonly FieldView[] => {
    const override = fixed[key];
    const { label } = setting;
    const input = inputOf(key, setting);
    if (override === undefined) return [editable(input, setting, secrets[input])];
    if (shown.has(override.variable)) return [];
    shown.add(override.variable);
    return [{ partial: 'admin/settings-fixed', name: input, label, fixed: override, isFixed: true }];
  });
}

function editable(name: string, setting: Setting<unknown, unknown>, state: SecretState | undefined): FieldView {
  const { control, label, attributes } = setting;
  const { isMono, ...others } = attributes;
  const hint = isSecret(setting) ? secretHint(setting, state) : setting.hint;
  return {
    ...others,
    partial: PARTIALS[control],
    isFixed: false,
    name,
    label,
    ...(control === 'checkbox' ? { text: hint } : { hint }),
    ...(isMono && { class: 'mono' }),
    ...(control === 'number' && { inputmode: 'numeric' }),
    autocomplete: 'off',
    ...(isSecret(setting) && setting.removal && state !== 'none' && { removal: setting.removal }),
  };
}

function secretHint({ noun, hint }: SecretSetting, state: SecretState | undefined): string | undefined {
  if (state === 'none') return hint;
  if (state === 'unreadable') return `The stored ${noun} cannot be decrypted. Enter it again.`;
  return `A ${noun} is stored. Leave empty to keep it.`;
}

/** Differences between stored and typed values of a section; overridden settings are ignored. */
export function differencesOf(name: SectionName, now: FormBody, typed: FormBody): readonly Difference[] {
  const settings = Object.entries(sectionOf(name).settings).filter(([, setting]) => !isSecret(setting));
  const sent = settings.filter(([key, { control }]) => key in typed || control === 'checkbox');
  const labels = Object.fromEntries(sent.map(([key, { label }]) => [key, label]));
  return differencesBetween(labels, now, typed, comparable);
}

/** Browsers send CRLF line endings. */
export const comparable = (value: FieldValue): string =>
  String(value ?? '')
    .trim()
    .replaceAll('\r\n', '\n');

/** Moves a password pasted with the SMTP URL into its own field, so that it is never displayed. */
function withPasswordApart(body: FormBody): FormBody {
  const { server: typed, serverPassword } = body;
  if (typeof typed !== 'string') return body;
  const { server, password } = withoutPassword(typed.trim());
  return { ...body, server, ...(password && !serverPassword && { serverPassword: password }) };
}
