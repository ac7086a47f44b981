import { ArrayMaxSize, IsArray, IsBoolean, IsFQDN, IsIn, Matches } from 'class-validator';
import { Names, Text, Ticked } from './typed.js';

/** Who may make an account, what it starts with, and what administrators sign in with. */
export class SignUpSection {
  @IsIn(['open', 'invite', 'closed'], { message: 'Choose who may create an account.' })
  readonly mode: 'open' | 'invite' | 'closed' = 'open';

  /** The only ones whose addresses may register; none: all. */
  @Names()
  @IsFQDN({}, { each: true, message: 'Enter domain names such as example.com, one on each line, or leave it empty.' })
  @ArrayMaxSize(100, { message: 'Enter at most 100 domains.' })
  @IsArray()
  readonly domains: readonly string[] = [];

  /** US dollars, as STARTING_CREDIT takes them. */
  @Text()
  @Matches(/^\d{1,6}(\.\d{1,9})?$/, { message: 'Enter dollars, such as 5 or 0.50; 0 for none.' })
  readonly startingCredit: string = '0';

  /** Whether nothing but setting one up is open to those that have none. */
  @Ticked()
  @IsBoolean({ message: 'Tick the box or leave it empty.' })
  readonly administratorsNeedSecondFactor: boolean = false;
}
