import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { InvalidSettings } from '../settings.errors.js';
import { MailSection } from './mail-section.js';
import { PaymentSection } from './payment-section.js';
import { RetentionSection } from './retention-section.js';
import { SignUpSection } from './sign-up-section.js';
import { SiteSection } from './site-section.js';

/** What is stored, by section: fields as they are meant, whether or not the environment overrules them. */
export interface Sections {
  readonly site: SiteSection;
  readonly signUp: SignUpSection;
  readonly mail: MailSection;
  readonly payment: PaymentSection;
  readonly retention: RetentionSection;
}

export type SectionName = keyof Sections;

const CLASSES: { readonly [Name in SectionName]: new () => Sections[Name] } = {
  site: SiteSection,
  signUp: SignUpSection,
  mail: MailSection,
  payment: PaymentSection,
  retention: RetentionSection,
};

/**
 * A section of what is stored, or of what was typed. Fields that are not given are as at the beginning; those that a
 * later version has stored are left out.
 * @param otherFaults by field, what is wrong with what is not kept in the section itself
 * @throws InvalidSettings naming each field that is wrong
 */
export function readSection<Name extends SectionName>(
  name: Name,
  given: Readonly<Record<string, unknown>>,
  otherFaults: Readonly<Record<string, string>> = {},
): Sections[Name] {
  const section = plainToInstance(CLASSES[name], given, { exposeDefaultValues: true });
  const errors = validateSync(section, { whitelist: true, stopAtFirstError: true });
  const faults = errors.map(({ property, constraints }): [string, string] => [
    property,
    Object.values(constraints ?? {})[0] ?? 'Enter a different value.',
  ]);
  const all = { ...otherFaults, ...Object.fromEntries(faults) };
  if (Object.keys(all).length > 0) throw new InvalidSettings(all);
  return section;
}
