// Runtime settings in sections: site, registration, mail server, payments, retention. Values from the environment take
// precedence. Owns the table `settings`; all settings are declared in sections/sections.ts, the pages are in
// console/admin/settings.
export { InvalidSettings, type SecretState } from './section-values.js';
export * from './sections/index.js';
export { type EditedSection, SettingsChangedMeanwhile, SettingsEditor } from './settings.editor.js';
export { SettingsModule } from './settings.module.js';
export { type CurrentSettings, type PaymentSettings, type PaymentsOff, Settings } from './settings.service.js';
