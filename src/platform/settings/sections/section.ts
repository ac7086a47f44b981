import { isSecret, type SecretSetting, type Setting } from './setting.js';

/** Settings by key. */
export type SettingMap = Readonly<Record<string, Setting<unknown, unknown>>>;

/** Stored values. */
export type StoredValues<Settings extends SettingMap> = {
  readonly [Key in keyof Settings]: Settings[Key] extends Setting<infer Value, infer _> ? Value : never;
};

/** Values in effect. Secrets are decrypted one by one, where they are used. */
export type CurrentValues<Settings extends SettingMap> = {
  readonly [Key in keyof Settings as Settings[Key] extends SecretSetting ? never : Key]: ReturnType<
    Settings[Key]['toCurrent']
  >;
};

/** One page of settings, one row of the table, saved as a whole. */
export interface Section<Settings extends SettingMap> {
  /** On the page. */
  readonly title: string;
  /** In the audit log. */
  readonly name: string;
  /** Below `/admin/settings`. */
  readonly path: string;
  readonly text: string;
  /** Saving requires a recent sign-in; its form has the password field. */
  readonly isConfirmed: boolean;
  /** Keys are those of the stored JSON and, but for secrets, of the form fields. */
  readonly settings: Settings;
  /** Errors that depend on several values; a value with an error of its own is absent. */
  check?(values: Partial<StoredValues<Settings>>): Readonly<Record<string, string>>;
}

/** Infers the values from the settings. */
export const section = <Settings extends SettingMap>(declared: Section<Settings>): Section<Settings> => declared;

/** The form field of a setting. */
export const inputOf = (key: string, setting: Setting<unknown, unknown>): string =>
  isSecret(setting) ? setting.input : key;
