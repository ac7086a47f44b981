// The declarations of all settings. Imports nothing but platform/shared, so that the configuration can validate the
// environment variables that override them.
export { inputOf } from './section.js';
export { type CurrentSections, SECTION_NAMES, type SectionName, sectionOf, type Sections } from './sections.js';
export { type Control, isSecret, type SecretSetting, type Setting } from './setting.js';
export { withoutPassword } from './smtp-url.js';
export { overridable, SECRET_VARIABLES, variableErrors } from './variables.js';
