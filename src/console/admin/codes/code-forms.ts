import { Matches, ValidateBy } from 'class-validator';
import { ConfirmedForm } from '../../../auth/index.js';
import { isDay, nanos } from '../../../platform/shared/index.js';
import { IsAmount, IsCount, Trimmed } from '../../web/index.js';

/** A batch of codes to create. */
export class NewCodesForm extends ConfirmedForm {
  @IsAmount({ message: 'Enter an amount in dollars, such as 25.', least: nanos(1n) })
  readonly amount: string = '';

  @IsCount({ message: 'Enter a number of codes from 1 to 1,000.', least: 1, most: 1000 })
  @Matches(/\S/, { message: 'Enter a number of codes from 1 to 1,000.' })
  readonly count: string = '';

  /** The last day on which they can be redeemed. */
  @ValidateBy(
    {
      name: 'isDayOrNothing',
      validator: { validate: (value) => value === '' || (typeof value === 'string' && isDay(value)) },
    },
    { message: 'Enter a date, or leave empty for codes that never expire.' },
  )
  readonly expires: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{0,200}$/u, { message: 'Enter a note of up to 200 characters.' })
  readonly note: string = '';
}
