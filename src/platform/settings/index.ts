// Runtime settings in sections: site, registration, mail server, payments, retention. Values from the environment take
// precedence. Owns the table `settings`; the pages are in console/admin/settings.
export type { CurrentSettings } from './current-settings.js';
export type { PaymentSecretName } from './payment-secrets.js';
export type { PaymentSettings, PaymentsOff } from './payment-settings.js';
export type { SectionName, Sections } from './sections/sections.js';
export { InvalidSettings, SettingsChangedMeanwhile } from './settings.errors.js';
export { type EditedSection, SettingsEditor } from './settings.editor.js';
export { SettingsModule } from './settings.module.js';
export { Settings } from './settings.service.js';
