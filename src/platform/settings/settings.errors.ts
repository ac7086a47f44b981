import { AppError } from '../shared/index.js';

/** Fields of a section that cannot be so, all at once. */
export class InvalidSettings extends AppError {
  constructor(
    /** By field, what to enter there. */
    readonly faults: Readonly<Record<string, string>>,
  ) {
    const [[param, message] = ['', 'These settings cannot be saved.']] = Object.entries(faults);
    super('invalid_request', message, { param });
  }
}

/** Somebody else has saved the section since it was shown. Nothing was changed. */
export class SettingsChangedMeanwhile extends AppError {
  constructor() {
    super('conflict', 'These settings were changed while you edited them. Review the current values and try again.');
  }
}
