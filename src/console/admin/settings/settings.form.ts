import { IsString, Matches } from 'class-validator';
import { ConfirmedForm } from '../../../auth/index.js';
import type { SectionName } from '../../../platform/settings/index.js';

/** A field of text; what it must be, the section itself says. Fields that the environment sets are not sent. */
const Text = (): PropertyDecorator => IsString({ message: 'Enter one text here.' });

const Revision = (): PropertyDecorator =>
  Matches(/^\d{1,9}$/, { message: 'Open the page again: it was not complete.' });

export class SiteForm {
  /** Of the section, when its fields were shown. */
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly name: string = '';

  @Text()
  readonly supportContact: string = '';

  @Text()
  readonly terms: string = '';

  @Text()
  readonly statusIsPublic: string = '';
}

/** Whoever may lift it has administrators sign in with less. */
export class SignUpForm extends ConfirmedForm {
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly mode: string = '';

  /** One on each line. */
  @Text()
  readonly domains: string = '';

  /** Dollars. */
  @Text()
  readonly startingCredit: string = '';

  @Text()
  readonly administratorsNeedSecondFactor: string = '';

  @Text()
  readonly sessionIdleHours: string = '';
}

/** Whoever may change the server may read everybody's links for new passwords. */
export class MailForm extends ConfirmedForm {
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly server: string = '';

  @Text()
  readonly serverPassword: string = '';

  @Text()
  readonly from: string = '';
}

/** Whoever may change the secrets may have users pay into another account. */
export class PaymentForm extends ConfirmedForm {
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly enabled: string = '';

  @Text()
  readonly secretKey: string = '';

  @Text()
  readonly webhookSecret: string = '';

  /** `yes` to have none stored. */
  @Text()
  readonly removeSecretKey: string = '';

  @Text()
  readonly removeWebhookSecret: string = '';

  /** Dollars, with commas. */
  @Text()
  readonly amounts: string = '';

  @Text()
  readonly smallest: string = '';

  @Text()
  readonly largest: string = '';
}

export class RetentionForm {
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly callsMonths: string = '';
}

export const SECTION_FORMS = {
  site: SiteForm,
  signUp: SignUpForm,
  mail: MailForm,
  payment: PaymentForm,
  retention: RetentionForm,
} as const satisfies Readonly<Record<SectionName, unknown>>;

/** Any of them. */
export type SectionForm = SiteForm | SignUpForm | MailForm | PaymentForm | RetentionForm;

export class TestMailForm {
  @Matches(/^[^\s\p{Cc}<>,;:"()[\]\\@]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u, {
    message: 'Enter one address such as name@example.com.',
  })
  readonly to: string = '';
}
