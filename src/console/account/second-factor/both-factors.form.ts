import { IsNotEmpty, IsOptional, IsString } from 'class-validator';

/** What is asked of whoever weakens how they sign in. */
export class BothFactorsForm {
  @IsString({ message: 'Enter the password that you sign in with now.' })
  @IsNotEmpty({ message: 'Enter the password that you sign in with now.' })
  readonly currentPassword: string = '';

  @IsString({ message: 'Enter the code that your app shows, or a recovery code.' })
  @IsNotEmpty({ message: 'Enter the code that your app shows, or a recovery code.' })
  readonly code: string = '';

  /** For password managers alone. */
  @IsOptional()
  readonly email?: unknown;
}
