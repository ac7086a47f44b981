import { IsString } from 'class-validator';
import { Numeral } from '../../../catalog/channels/index.js';
import { type Limits, LARGEST_LIMIT } from '../../../platform/limits/index.js';
import { countOf, type FormBody, IsCount } from '../../web/index.js';

const Limit = (): PropertyDecorator =>
  IsCount({
    message: 'Enter a whole number of 1 or more, or leave empty for no limit.',
    min: 1,
    max: LARGEST_LIMIT,
  });

/** Default limits of a kind, as typed. */
export class DefaultLimitsForm {
  /** Revision of the limits that the form was opened with. */
  @IsString({ message: 'This form is incomplete. Reload the page and try again.' })
  readonly revision: string = '';

  @Limit()
  readonly callsPerMinute: string = '';

  @Limit()
  readonly tokensPerMinute: string = '';

  @Limit()
  readonly concurrency: string = '';
}

export const LIMIT_LABELS: Readonly<Record<string, string>> = {
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
};

export const limitValues = ({ requestsPerMinute, tokensPerMinute, concurrency }: Limits): FormBody => ({
  callsPerMinute: String(requestsPerMinute ?? ''),
  tokensPerMinute: String(tokensPerMinute ?? ''),
  concurrency: String(concurrency ?? ''),
});

/** The limits as a catalog file entry. */
export const limitsEntry = ({ callsPerMinute, tokensPerMinute, concurrency }: DefaultLimitsForm): object => ({
  requests_per_minute: numeralOf(callsPerMinute),
  tokens_per_minute: numeralOf(tokensPerMinute),
  concurrency: numeralOf(concurrency),
});

const numeralOf = (text: string): Numeral | null => {
  const count = countOf(text);
  return count === undefined ? null : new Numeral(String(count));
};
