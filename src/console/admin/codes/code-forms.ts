import { Matches, ValidateBy } from 'class-validator';
import { ConfirmedForm } from '../../../auth/index.js';
import { isDay, nanos } from '../../../platform/shared/index.js';
import { IsAmount, IsCount, Trimmed } from '../../web/index.js';

/** A batch of codes as it is asked for. */
export class NewCodesForm extends ConfirmedForm {
  @IsAmount({ message: 'Enter what each code is worth in dollars, such as 25.', least: nanos(1n) })
  readonly amount: string = '';

  @IsCount({ message: 'Enter how many codes to make, 1 to 1,000.', least: 1, most: 1000 })
  @Matches(/\S/, { message: 'Enter how many codes to make, 1 to 1,000.' })
  readonly count: string = '';

  /** The last day on which they can be redeemed. */
  @ValidateBy(
    {
      name: 'isDayOrNothing',
      validator: { validate: (value) => value === '' || (typeof value === 'string' && isDay(value)) },
    },
    { message: 'Enter a date, or leave it empty if the codes are not to expire.' },
  )
  readonly expires: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{0,200}$/u, { message: 'Enter a note of at most 200 characters.' })
  readonly note: string = '';
}
