// Settings that operators change while the service runs, in named sections, each saved on its own: how the site presents
// itself, who may sign up, the mail server, payments, how long calls are kept. What the environment sets wins. Owns the
// table `settings` and what is in it; does not own what follows from a setting, nor the pages on which they are changed.
export type { CurrentSettings } from './current-settings.js';
export type { PaymentSecretName } from './payment-secrets.js';
export type { PaymentSettings, PaymentsOff } from './payment-settings.js';
export type { SectionName, Sections } from './sections/sections.js';
export { InvalidSettings, SettingsChangedMeanwhile } from './settings.errors.js';
export { type EditedSection, SettingsEditor } from './settings.editor.js';
export { SettingsModule } from './settings.module.js';
export { Settings } from './settings.service.js';
