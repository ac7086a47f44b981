import { IsNotEmpty, IsString } from 'class-validator';

/** The code of a mail, however it is typed. */
export class CodeForm {
  @IsString({ message: 'Enter the six-digit code from the email.' })
  @IsNotEmpty({ message: 'Enter the six-digit code from the email.' })
  readonly code: string = '';
}
