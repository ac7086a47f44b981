import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import type { JsonObject } from '../shared/index.js';
import { fixedFields } from './fixed-settings.js';
import { MailPassword } from './mail-password.js';
import { PaymentSecrets } from './payment-secrets.js';
import { MailSection } from './sections/mail-section.js';
import { PaymentSection } from './sections/payment-section.js';
import { readSection, type SectionName, type Sections } from './sections/sections.js';

/** Makes sections of what was typed over those that are stored. */
@Injectable()
export class TypedSections {
  constructor(
    private readonly config: Config,
    private readonly password: MailPassword,
    private readonly payment: PaymentSecrets,
  ) {}

  /** By field that the environment sets, the variable. */
  fixed(name: SectionName): Readonly<Record<string, string>> {
    return fixedFields(this.config, name);
  }

  /** Fields that the environment sets stay as they are stored. @throws InvalidSettings */
  read<Name extends SectionName>(name: Name, typed: JsonObject, before: Sections[Name]): Sections[Name] {
    const fixed = this.fixed(name);
    const kept = Object.fromEntries(Object.entries(before).filter(([field]) => field in fixed));
    const otherFaults = name === 'payment' ? this.payment.faults(typed, fixed) : {};
    const section = readSection(name, { ...typed, ...kept }, otherFaults);
    if (section instanceof PaymentSection && before instanceof PaymentSection)
      return { ...section, ...this.payment.sealed(typed, before, fixed) };
    if (!(section instanceof MailSection) || !(before instanceof MailSection) || 'server' in fixed) return section;
    const password = typeof typed['serverPassword'] === 'string' ? typed['serverPassword'] : '';
    return { ...section, sealedPassword: this.password.sealed(section, password, before) };
  }
}
