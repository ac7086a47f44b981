import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { type AccountRole, ConfirmedForm } from '../../../auth/index.js';
import { LARGEST_LIMIT } from '../../../platform/limits/index.js';
import { nanos } from '../../../platform/shared/index.js';
import { IsAmount, IsCount, Trimmed } from '../../web/index.js';

const Rate = (): PropertyDecorator =>
  IsCount({
    message: 'Enter a whole number of 1 or more, or leave it empty for what is usual here.',
    least: 1,
    most: LARGEST_LIMIT,
  });

/** An adjustment of a balance; `reviewed` says of which one it was shown what it leads to. */
export class BalanceForm extends ConfirmedForm {
  @IsIn(['add', 'take'], { message: 'Choose whether to add it or to take it out.' })
  readonly direction: string = 'add';

  @IsAmount({ message: 'Enter dollars, such as 25 or 1,000.50.', least: nanos(1n) })
  readonly amount: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,200}$/u, {
    message: 'Enter a reason of 1 to 200 characters: it stands in the ledger, and the user reads it.',
  })
  readonly reason: string = '';

  @IsOptional()
  readonly reviewed?: unknown;
}

/** What a user is given each month. */
export class AllowanceForm extends ConfirmedForm {
  @IsAmount({ message: 'Enter dollars, such as 25 or 1,000.50, or 0 for none.' })
  readonly amount: string = '';
}

/** A change of a key's quota. */
export class QuotaForm {
  @IsIn(['add', 'take'], { message: 'Choose whether to add it or to take it off.' })
  readonly direction: string = 'add';

  @IsAmount({ message: 'Enter dollars, such as 25 or 1,000.50.', least: nanos(1n) })
  readonly quota: string = '';
}

/** What a user's calls are billed under, and how many there may be. */
export class SettingsForm {
  @Matches(/^[^\p{Cc}]{1,200}$/u, { message: 'Choose one of the groups in the list.' })
  readonly group: string = '';

  @Rate()
  readonly callsPerMinute: string = '';

  @Rate()
  readonly tokensPerMinute: string = '';

  @Rate()
  readonly concurrency: string = '';

  /** Of what it was opened on. */
  @IsString()
  readonly revision: string = '';
}

export class RoleForm extends ConfirmedForm {
  @IsIn(['user', 'admin'], { message: 'Choose a role.' })
  readonly role: AccountRole = 'user';
}

/** What is typed to delete something, so that it is not done by a slip. */
export class ConfirmDeletionForm extends ConfirmedForm {
  @Trimmed()
  @IsString()
  readonly confirm: string = '';
}

export class NewUserForm extends ConfirmedForm {
  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,320}$/u, { message: 'Enter an e-mail address, such as ann@example.com.' })
  readonly email: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{0,100}$/u, { message: 'Enter a name of at most 100 characters.' })
  readonly name: string = '';

  @Matches(/^[^\p{Cc}]{1,200}$/u, { message: 'Choose one of the groups in the list.' })
  readonly group: string = 'default';

  @IsAmount({ message: 'Enter dollars, such as 25 or 1,000.50, or leave it empty for none.', mayBeEmpty: true })
  readonly credit: string = '';

  /** A month. */
  @IsAmount({ message: 'Enter dollars, such as 25 or 1,000.50, or leave it empty for none.', mayBeEmpty: true })
  readonly allowance: string = '';

  @IsIn(['password', 'invite'], { message: 'Choose how they sign in for the first time.' })
  readonly way: string = 'password';
}
