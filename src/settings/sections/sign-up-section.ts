import { ArrayMaxSize, IsArray, IsFQDN, IsIn, Matches } from 'class-validator';
import { Names, Text } from './typed.js';

/** Who may make an account, and what it starts with. */
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
}
