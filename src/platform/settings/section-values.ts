import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { AppError, SealingKey, Secret, UnreadableSecret } from '../shared/index.js';
import {
  type CurrentSections,
  isSecret,
  type SecretSetting,
  type SectionName,
  sectionOf,
  type Sections,
  type Setting,
} from './sections/index.js';

type Given = Readonly<Record<string, unknown>>;
type Errors = Readonly<Record<string, string>>;

/** All invalid fields of a section. */
export class InvalidSettings extends AppError {
  constructor(
    /** By form field, what to enter there. */
    readonly errors: Errors,
  ) {
    const [[param, message] = ['', 'These settings cannot be saved.']] = Object.entries(errors);
    super('invalid_request', message, { param });
  }
}

/** A setting that an environment variable overrides. */
export interface FixedSetting {
  readonly variable: string;
  /** Read-only text. */
  readonly value: string;
}

export type SecretState = 'none' | 'stored' | 'unreadable';

/**
 * A section as stored, or as typed but for its secrets. Missing values have their defaults; unknown ones are dropped.
 * @throws InvalidSettings
 */
export function readSection<Name extends SectionName>(name: Name, given: Given): Sections[Name] {
  const { values, errors } = readingOf(name, given);
  if (Object.keys(errors).length > 0) throw new InvalidSettings(errors);
  return values as Sections[Name];
}

function readingOf(name: SectionName, given: Given): { readonly values: Given; readonly errors: Errors } {
  const section = sectionOf(name);
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [key, setting] of Object.entries(section.settings)) {
    const reading = given[key] === undefined ? { value: setting.initial } : setting.read(given[key]);
    if ('error' in reading) errors[key] = reading.error;
    else values[key] = reading.value;
  }
  return { values, errors: { ...section.check?.(values), ...errors } };
}

/** Reads and writes sections: overrides of the environment, and secrets encrypted for the database. */
@Injectable()
export class SectionValues {
  private readonly key: SealingKey;

  constructor(private readonly config: Config) {
    this.key = new SealingKey(config.secretKey, 'switchboard settings v1');
  }

  /** The text of the environment variable that overrides a setting. */
  override(setting: Setting<unknown, unknown> | undefined): string | undefined {
    return setting?.variable && this.config.variable(setting.variable.name);
  }

  /** Overridden settings by key. */
  fixed(name: SectionName): Readonly<Record<string, FixedSetting>> {
    return Object.fromEntries(
      Object.entries(sectionOf(name).settings).flatMap(([key, setting]) => {
        const { variable } = setting;
        const text = this.override(setting);
        if (variable === undefined || text === undefined) return [];
        return [[key, { variable: variable.name, value: setting.toDisplay(valueIn(setting, text)) }]];
      }),
    );
  }

  /** Values in effect. */
  current<Name extends SectionName>(name: Name, stored: Sections[Name]): CurrentSections[Name] {
    const kept: Given = stored;
    const values = Object.entries(sectionOf(name).settings).flatMap(([key, setting]) => {
      if (isSecret(setting)) return [];
      const text = this.override(setting);
      return [[key, setting.toCurrent(text === undefined ? kept[key] : valueIn(setting, text))]];
    });
    return Object.fromEntries(values) as CurrentSections[Name];
  }

  /** A secret in effect; undefined: there is none. @throws UnreadableSecret */
  secret<Name extends SectionName>(
    name: Name,
    key: keyof Sections[Name] & string,
    stored: Sections[Name],
  ): Secret | undefined {
    const setting = sectionOf(name).settings[key];
    if (setting === undefined || !isSecret(setting)) return undefined;
    const text = this.override(setting);
    return text === undefined ? this.opened(setting, String(stored[key]), stored) : new Secret(text);
  }

  /** By form field. */
  secretStates<Name extends SectionName>(name: Name, stored: Sections[Name]): Readonly<Record<string, SecretState>> {
    const kept: Given = stored;
    return Object.fromEntries(
      Object.entries(sectionOf(name).settings).flatMap(([key, setting]) =>
        isSecret(setting) ? [[setting.input, this.stateOf(setting, String(kept[key]), kept)]] : [],
      ),
    );
  }

  /**
   * A section as typed over the stored one. Overridden settings stay as stored, and so do secrets whose field is empty.
   * @param typed by form field
   * @throws InvalidSettings
   */
  typed<Name extends SectionName>(name: Name, typed: Given, before: Sections[Name]): Sections[Name] {
    const stored: Given = before;
    const fixed = this.fixed(name);
    const settings = Object.entries(sectionOf(name).settings);
    const kept = settings
      .filter(([key, setting]) => key in fixed || isSecret(setting))
      .map(([key]) => [key, stored[key]]);
    const { values, errors } = readingOf(name, { ...typed, ...Object.fromEntries(kept) });
    const found: Record<string, string> = {};
    const sealed: Record<string, string> = {};
    for (const [key, setting] of settings) {
      if (errors[key] !== undefined) found[key] = errors[key];
      if (!isSecret(setting) || key in fixed || (setting.boundTo && setting.boundTo.input in errors)) continue;
      const result = this.sealed(setting, typed, { after: values, before, stored: String(stored[key]) });
      if ('value' in result) sealed[key] = result.value;
      else found[result.field] = result.error;
    }
    if (Object.keys(found).length > 0) throw new InvalidSettings(found);
    return { ...(values as Sections[Name]), ...sealed };
  }

  private sealed(setting: SecretSetting, typed: Given, { after, before, stored }: SealedOver): Sealed {
    const given = textIn(typed[setting.input], setting);
    if (setting.removal !== undefined && typed[setting.removal.input] === 'yes')
      return given === ''
        ? { value: '' }
        : { field: setting.input, error: 'Enter a new value or remove the stored one, not both.' };
    const { boundTo } = setting;
    const place = setting.place(after);
    if (place === undefined)
      return given === '' || boundTo === undefined ? { value: '' } : { field: boundTo.input, error: boundTo.misplaced };
    if (given !== '') {
      const reading = setting.readVariable(given);
      if ('error' in reading) return { field: setting.input, error: reading.error };
      return { value: this.key.seal(new Secret(reading.value), place) };
    }
    const isKept = stored !== '' && place === setting.place(before);
    if (isKept || boundTo === undefined) return { value: isKept ? stored : '' };
    return { field: setting.input, error: boundTo.missing };
  }

  private opened(setting: SecretSetting, sealed: string, section: Given): Secret | undefined {
    const place = setting.place(section);
    return sealed === '' || place === undefined ? undefined : this.key.open(sealed, place);
  }

  private stateOf(setting: SecretSetting, sealed: string, section: Given): SecretState {
    try {
      return this.opened(setting, sealed, section) === undefined ? 'none' : 'stored';
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      return 'unreadable';
    }
  }
}

interface SealedOver {
  readonly after: Given;
  readonly before: Given;
  readonly stored: string;
}

type Sealed = { readonly value: string } | { readonly field: string; readonly error: string };

/** @throws RangeError for a variable that the configuration has rejected */
function valueIn<Value>(setting: Setting<Value, unknown>, text: string): Value {
  const reading = setting.readVariable(text);
  if ('error' in reading) throw new RangeError(`${setting.variable?.name ?? ''}: ${reading.error}`);
  return reading.value;
}

const textIn = (given: unknown, { noun }: SecretSetting): string => {
  if (typeof given !== 'string') return '';
  return noun === 'password' ? given : given.trim();
};
