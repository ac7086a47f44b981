import { IsNotEmpty, IsString } from 'class-validator';

/** The code of a mail, however it is typed. */
export class CodeForm {
  @IsString({ message: 'Enter the six digits from the mail.' })
  @IsNotEmpty({ message: 'Enter the six digits from the mail.' })
  readonly code: string = '';
}
