import { IsNotEmpty, IsOptional, IsString } from 'class-validator';

/** What is asked of whoever weakens how they sign in. */
export class BothFactorsForm {
  @IsString({ message: 'Enter your current password.' })
  @IsNotEmpty({ message: 'Enter your current password.' })
  readonly currentPassword: string = '';

  @IsString({ message: 'Enter the code from your app, or a recovery code.' })
  @IsNotEmpty({ message: 'Enter the code from your app, or a recovery code.' })
  readonly code: string = '';

  /** For password managers alone. */
  @IsOptional()
  readonly email?: unknown;
}
