import { IsInt, Max, Min, ValidateIf } from 'class-validator';
import { Whole } from './typed.js';

const MONTHS = 'Enter 1 to 1200 months, or leave empty to keep all calls.';

/** How long the log of calls is kept. */
export class RetentionSection {
  /** Whole months beside the current one; null: for ever. */
  @Whole()
  @ValidateIf((_, value) => value !== null)
  @IsInt({ message: MONTHS })
  @Min(1, { message: MONTHS })
  @Max(1200, { message: MONTHS })
  readonly callsMonths: number | null = null;
}
