import { IsNotEmpty, IsString, MaxLength } from 'class-validator';

/** A redemption code, however it is typed. */
export class RedeemForm {
  @MaxLength(200, { message: 'Enter the full code: 28 letters and digits.' })
  @IsNotEmpty({ message: 'Enter your code.' })
  @IsString({ message: 'Enter one code at a time.' })
  readonly code: string = '';
}
