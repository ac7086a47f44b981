// The page of settings: a form for each section, saved on its own, and a test mail.
import { SettingsController } from './settings.controller.js';
import { SettingsPages } from './settings.pages.js';
import { TestMail } from './test-mail.js';
import { TestMailPages } from './test-mail.pages.js';

export const SETTINGS_CONTROLLERS = [SettingsController];
export const SETTINGS_PROVIDERS = [SettingsPages, TestMail, TestMailPages];
