import { IsString, Matches } from 'class-validator';
import { ConfirmedForm } from '../../../auth/index.js';
import type { SectionName } from '../../../platform/settings/index.js';

/** A text field, validated by its section. Fields that the environment sets are not sent. */
const Text = (): PropertyDecorator => IsString({ message: 'Enter a single value.' });

const Revision = (): PropertyDecorator =>
  Matches(/^\d{1,9}$/, { message: 'This form is incomplete. Reload the page and try again.' });

export class SiteForm {
  /** Revision of the section that the form was opened with. */
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

/** Confirmed by password: it can relax the sign-in policy of administrators. */
export class SignUpForm extends ConfirmedForm {
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly mode: string = '';

  /** One per line. */
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

/** Confirmed by password: the mail server sees all password reset links. */
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

/** Confirmed by password: the secrets decide which account is paid. */
export class PaymentForm extends ConfirmedForm {
  @Revision()
  readonly revision: string = '';

  @Text()
  readonly enabled: string = '';

  @Text()
  readonly secretKey: string = '';

  @Text()
  readonly webhookSecret: string = '';

  /** `yes` to remove the stored secret. */
  @Text()
  readonly removeSecretKey: string = '';

  @Text()
  readonly removeWebhookSecret: string = '';

  /** Dollars, separated by commas. */
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

export type SectionForm = SiteForm | SignUpForm | MailForm | PaymentForm | RetentionForm;

export class TestMailForm {
  @Matches(/^[^\s\p{Cc}<>,;:"()[\]\\@]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u, {
    message: 'Enter an email address, such as name@example.com.',
  })
  readonly to: string = '';
}
