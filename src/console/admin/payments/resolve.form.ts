import { Matches } from 'class-validator';
import { Trimmed } from '../../web/index.js';

export class ResolveForm {
  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,200}$/u, { message: 'Enter the resolution (1 to 200 characters).' })
  readonly reason: string = '';
}
