import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

/** A redemption code, however it is typed. */
export class RedeemForm {
  @MaxLength(200, { message: 'Enter the code as it was given to you: 28 letters and digits.' })
  @IsNotEmpty({ message: 'Enter the code that was given to you.' })
  @IsString({ message: 'Enter one code at a time.' })
  readonly code: string = '';
}
