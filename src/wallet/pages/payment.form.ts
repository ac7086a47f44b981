import { IsString, MaxLength } from 'class-validator';
import { IsAmount } from '../../web/index.js';

const CHOOSE = 'Choose an amount, or enter another one.';

/** How much to pay: one of the amounts that are offered, unless another one is typed. */
export class PaymentForm {
  @MaxLength(20, { message: CHOOSE })
  @IsString({ message: CHOOSE })
  readonly amount: string = '';

  @IsAmount({ message: 'Enter dollars and cents, such as 20 or 7.50, or leave it empty.', mayBeEmpty: true })
  readonly other: string = '';
}
