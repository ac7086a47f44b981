// The declarations of all settings. Imports nothing but platform/shared, so that the configuration can validate the
// environment variables that override them.
export type { Control, SecretSetting, Setting } from './setting.js';
export {
  type CurrentSections,
  inputOf,
  isSecret,
  overridable,
  SECRET_VARIABLES,
  SECTION_NAMES,
  type SectionName,
  sectionOf,
  type Sections,
  variableErrors,
} from './sections.js';
export { withoutPassword } from './smtp-url.js';
