import { IsString } from 'class-validator';
import { Numeral } from '../../../catalog/channels/index.js';
import { type Limits, LARGEST_LIMIT } from '../../../platform/limits/index.js';
import { countOf, type FormBody, IsCount } from '../../web/index.js';

const Limit = (): PropertyDecorator =>
  IsCount({
    message: 'Enter a whole number of 1 or more, or leave it empty for no limit.',
    least: 1,
    most: LARGEST_LIMIT,
  });

/** What is usual for a kind, as it is typed. */
export class UsualLimitsForm {
  /** Of these limits, when they were shown. */
  @IsString({ message: 'Open the page again: it was not complete.' })
  readonly revision: string = '';

  @Limit()
  readonly callsPerMinute: string = '';

  @Limit()
  readonly tokensPerMinute: string = '';

  /** At the same time. */
  @Limit()
  readonly concurrency: string = '';
}

export const LIMIT_LABELS: Readonly<Record<string, string>> = {
  callsPerMinute: 'Calls a minute',
  tokensPerMinute: 'Tokens a minute',
  concurrency: 'Calls at the same time',
};

export const limitValues = ({ requestsPerMinute, tokensPerMinute, concurrency }: Limits): FormBody => ({
  callsPerMinute: String(requestsPerMinute ?? ''),
  tokensPerMinute: String(tokensPerMinute ?? ''),
  concurrency: String(concurrency ?? ''),
});

/** As the catalog file would say them. */
export const limitsEntry = ({ callsPerMinute, tokensPerMinute, concurrency }: UsualLimitsForm): object => ({
  requests_per_minute: numeralOf(callsPerMinute),
  tokens_per_minute: numeralOf(tokensPerMinute),
  concurrency: numeralOf(concurrency),
});

const numeralOf = (text: string): Numeral | null => {
  const count = countOf(text);
  return count === undefined ? null : new Numeral(String(count));
};
