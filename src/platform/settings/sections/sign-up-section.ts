import { ArrayMaxSize, IsArray, IsBoolean, IsFQDN, IsIn, IsInt, Matches, Max, Min } from 'class-validator';
import { Names, Text, Ticked, Whole } from './typed.js';

const HOURS = 'Enter 1 to 720 hours.';

/** Who may make an account, what it starts with, what administrators sign in with, and for how long one is signed in. */
export class SignUpSection {
  @IsIn(['open', 'invite', 'closed'], { message: 'Choose who may create an account.' })
  readonly mode: 'open' | 'invite' | 'closed' = 'open';

  /** The only ones whose addresses may register; none: all. */
  @Names()
  @IsFQDN({}, { each: true, message: 'Enter domain names such as example.com, one per line, or leave empty.' })
  @ArrayMaxSize(100, { message: 'Enter at most 100 domains.' })
  @IsArray()
  readonly domains: readonly string[] = [];

  /** US dollars, as STARTING_CREDIT takes them. */
  @Text()
  @Matches(/^\d{1,6}(\.\d{1,9})?$/, { message: 'Enter an amount in dollars, such as 5 or 0.50, or 0 for none.' })
  readonly startingCredit: string = '0';

  /** Whether nothing but setting one up is open to those that have none. */
  @Ticked()
  @IsBoolean({ message: 'Select or clear the checkbox.' })
  readonly administratorsNeedSecondFactor: boolean = false;

  /** After how long without a visit a browser is signed out. None is signed in for more than 720, visits or not. */
  @Whole()
  @IsInt({ message: HOURS })
  @Min(1, { message: HOURS })
  @Max(720, { message: HOURS })
  readonly sessionIdleHours: number = 336;
}
