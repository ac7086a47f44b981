import { IsBoolean, Matches, MaxLength } from 'class-validator';
import { Text, Ticked } from './typed.js';

/** How the service presents itself. */
export class SiteSection {
  /** In titles, navigation and mails. */
  @Text()
  @Matches(/^[^\p{Cc}]{1,60}$/u, { message: 'Enter a name of 1 to 60 characters.' })
  readonly name: string = 'Switchboard';

  /** An address of mail or of a page; empty: none. */
  @Text()
  @Matches(/^[^\p{Cc}]{0,200}$/u, { message: 'Enter at most 200 characters, or leave empty.' })
  readonly supportContact: string = '';

  /** What people agree to, in paragraphs; empty: there are none. */
  @Text()
  @MaxLength(100_000, { message: 'Enter at most 100,000 characters.' })
  readonly terms: string = '';

  /** Whether /status is open to everybody. */
  @Ticked()
  @IsBoolean({ message: 'Select or clear the checkbox.' })
  readonly statusIsPublic: boolean = false;
}
