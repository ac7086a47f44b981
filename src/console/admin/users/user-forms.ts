import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { type AccountRole, ConfirmedForm } from '../../../auth/index.js';
import { LARGEST_LIMIT } from '../../../platform/limits/index.js';
import { nanos } from '../../../platform/shared/index.js';
import { IsAmount, IsCount, Trimmed } from '../../web/index.js';

const Rate = (): PropertyDecorator =>
  IsCount({
    message: 'Enter a whole number of 1 or more, or leave empty for the default.',
    min: 1,
    max: LARGEST_LIMIT,
  });

/** A balance adjustment; `reviewed` is the amount whose preview was shown. */
export class BalanceForm extends ConfirmedForm {
  @IsIn(['add', 'take'], { message: 'Choose whether to add or deduct the amount.' })
  readonly direction: string = 'add';

  @IsAmount({ message: 'Enter an amount in dollars, such as 25 or 1,000.50.', min: nanos(1n) })
  readonly amount: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,200}$/u, {
    message: 'Enter a reason (1 to 200 characters). It is recorded in the ledger and shown in the wallet.',
  })
  readonly reason: string = '';

  @IsOptional()
  readonly reviewed?: unknown;
}

/** A monthly allowance. */
export class AllowanceForm extends ConfirmedForm {
  @IsAmount({ message: 'Enter an amount in dollars, such as 25 or 1,000.50, or 0 for none.' })
  readonly amount: string = '';
}

/** A change of an API key's quota. */
export class QuotaForm {
  @IsIn(['add', 'take'], { message: 'Choose whether to raise or lower the quota.' })
  readonly direction: string = 'add';

  @IsAmount({ message: 'Enter an amount in dollars, such as 25 or 1,000.50.', min: nanos(1n) })
  readonly quota: string = '';
}

/** A user's group and limits. */
export class SettingsForm {
  @Matches(/^[^\p{Cc}]{1,200}$/u, { message: 'Choose a group from the list.' })
  readonly group: string = '';

  @Rate()
  readonly callsPerMinute: string = '';

  @Rate()
  readonly tokensPerMinute: string = '';

  @Rate()
  readonly concurrency: string = '';

  /** Revision of the values that the form was opened with. */
  @IsString()
  readonly revision: string = '';
}

export class RoleForm extends ConfirmedForm {
  @IsIn(['user', 'admin'], { message: 'Choose a role.' })
  readonly role: AccountRole = 'user';
}

/** Confirmation of a deletion by typing a name. */
export class ConfirmDeletionForm extends ConfirmedForm {
  @Trimmed()
  @IsString()
  readonly confirm: string = '';
}

export class NewUserForm extends ConfirmedForm {
  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,320}$/u, { message: 'Enter an email address, such as ann@example.com.' })
  readonly email: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{0,100}$/u, { message: 'Enter a name of at most 100 characters.' })
  readonly name: string = '';

  @Matches(/^[^\p{Cc}]{1,200}$/u, { message: 'Choose a group from the list.' })
  readonly group: string = 'default';

  @IsAmount({
    message: 'Enter an amount in dollars, such as 25 or 1,000.50, or leave empty for none.',
    mayBeEmpty: true,
  })
  readonly credit: string = '';

  /** Per month. */
  @IsAmount({
    message: 'Enter an amount in dollars, such as 25 or 1,000.50, or leave empty for none.',
    mayBeEmpty: true,
  })
  readonly allowance: string = '';

  @IsIn(['password', 'invite'], { message: 'Choose a first sign-in method.' })
  readonly way: string = 'password';
}
