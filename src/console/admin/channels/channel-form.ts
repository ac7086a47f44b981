import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, ValidateBy } from 'class-validator';
import { IsCount } from '../../web/index.js';

const DAY_MS = 86_400_000;

/** A repeatable field; always a list. */
const Several = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value : [value ?? []].flat()));

const Texts = (): PropertyDecorator =>
  IsString({ each: true, message: 'This form is incomplete. Reload the page and try again.' });

const Milliseconds = (): PropertyDecorator =>
  IsCount({ message: 'Enter 1 or more milliseconds, or leave empty for the default.', min: 1, max: DAY_MS });

/** One name, separator and value per line. */
const Pairs = (separator: string): PropertyDecorator =>
  ValidateBy(
    {
      name: 'arePairs',
      validator: { validate: (value) => typeof value === 'string' && oddLine(value, separator) === undefined },
    },
    { message: `Enter one pair per line: name${separator}value.` },
  );

const linesOf = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const oddLine = (text: string, separator: string): string | undefined =>
  linesOf(text).find((line) => line.indexOf(separator) < 1);

/** Parses pairs; the last one wins if a name is repeated. */
export const pairsIn = (text: string, separator: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(separator);
      return [line.slice(0, at).trim(), line.slice(at + separator.length).trim()];
    }),
  );

/** How the credential is sent. `usual`: the protocol's default. */
export const AUTH_FORMS = ['usual', 'bearer', 'header', 'none'] as const;

/** A channel as typed; no field is ever undefined. Flags are separate fields of the page. */
export class ChannelForm {
  @Matches(/^\s*[^\p{Cc}]{0,199}[^\p{Cc}\s]\s*$/u, { message: 'Enter a name of 1 to 200 characters.' })
  readonly name: string = '';

  @IsString()
  readonly protocol: string = '';

  @Matches(/\S/, { message: 'Enter a URL, such as https://api.example.com/v1.' })
  readonly baseUrl: string = '';

  @IsIn(AUTH_FORMS, { message: 'Choose an authentication method.' })
  readonly auth: string = 'usual';

  /** For auth `header`. */
  @IsString()
  readonly authHeader: string = '';

  @Pairs('=')
  readonly query: string = '';

  @Pairs(':')
  readonly headers: string = '';

  /** Parallel to `secret`: the reference of a stored credential, or empty. */
  @Several()
  @Texts()
  readonly held: readonly string[] = [];

  /** A new or replacing secret; empty: keeps the stored one. */
  @Several()
  @Texts()
  readonly secret: readonly string[] = [];

  /** Parallel to `upstream`; rows with both empty are ignored. */
  @Several()
  @Texts()
  readonly public: readonly string[] = [];

  @Several()
  @Texts()
  readonly upstream: readonly string[] = [];

  /** Models, parallel to the cost fields below: a share of the price, or prices, or empty if unknown. */
  @Several()
  @Texts()
  readonly costModel: readonly string[] = [];

  @Several()
  @Texts()
  readonly costShare: readonly string[] = [];

  @Several()
  @Texts()
  readonly costInput: readonly string[] = [];

  @Several()
  @Texts()
  readonly costOutput: readonly string[] = [];

  @Several()
  @Texts()
  readonly costCacheRead: readonly string[] = [];

  @Several()
  @Texts()
  readonly costWrite5m: readonly string[] = [];

  @Several()
  @Texts()
  readonly costWrite1h: readonly string[] = [];

  /** Models without a cost row whose stored cost is removed. */
  @Several()
  @Texts()
  readonly costForgotten: readonly string[] = [];

  @Several()
  @Texts()
  readonly groups: readonly string[] = [];

  @IsCount({ message: 'Enter a whole number from 0 to 1,000.', min: 0, max: 1_000 })
  readonly tier: string = '';

  @IsCount({ message: 'Enter a whole number from 0 to 1,000,000.', min: 0, max: 1_000_000 })
  readonly weight: string = '';

  @IsCount({ message: 'Enter a whole number of 1 or more, or leave empty for no limit.', min: 1, max: 1_000_000 })
  readonly maxConcurrency: string = '';

  @Milliseconds()
  readonly connectMs: string = '';

  @Milliseconds()
  readonly firstEventMs: string = '';

  @Milliseconds()
  readonly idleMs: string = '';

  @Milliseconds()
  readonly totalMs: string = '';

  /** Revision that the form was opened with; empty for a new channel. */
  @IsString()
  readonly revision: string = '';

  @IsString()
  readonly password: string = '';
}

export interface ModelRow {
  readonly public: string;
  readonly upstream: string;
}
