import { SECTION_NAMES, sectionOf } from './sections.js';
import { isSecret, type Setting } from './setting.js';

/** Settings with an environment variable. */
export const overridable = (): readonly (Setting<unknown, unknown> & Required<Pick<Setting<unknown>, 'variable'>>)[] =>
  SECTION_NAMES.flatMap((name) =>
    Object.values(sectionOf(name).settings).flatMap((setting) =>
      setting.variable === undefined ? [] : [{ ...setting, variable: setting.variable }],
    ),
  );

/** Variables with secrets. */
export const SECRET_VARIABLES: readonly string[] = overridable()
  .filter(isSecret)
  .map(({ variable }) => variable.name);

/** @returns one reason per invalid variable */
export const variableErrors = (variable: (name: string) => string | undefined): readonly string[] =>
  overridable().flatMap((setting) => {
    const given = variable(setting.variable.name);
    if (given === undefined || given === '') return [];
    const reading = setting.readVariable(given);
    return 'error' in reading ? [`${setting.variable.name}: ${asClause(reading.error)}`] : [];
  });

const asClause = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
