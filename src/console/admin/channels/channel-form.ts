import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, ValidateBy } from 'class-validator';
import { IsCount } from '../../web/index.js';

const DAY_MS = 86_400_000;

/** A field that may come several times: a list, however often it came. */
const Several = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value : [value ?? []].flat()));

const Texts = (): PropertyDecorator => IsString({ each: true, message: 'Open the page again: it was not complete.' });

const Milliseconds = (): PropertyDecorator =>
  IsCount({ message: 'Enter milliseconds, 1 or more, or leave it empty for what is usual.', least: 1, most: DAY_MS });

/** One `name=value`, or whatever stands between, on each line. */
const Pairs = (separator: string): PropertyDecorator =>
  ValidateBy(
    {
      name: 'arePairs',
      validator: { validate: (value) => typeof value === 'string' && oddLine(value, separator) === undefined },
    },
    { message: `Enter a name, “${separator}” and a value on each line.` },
  );

const linesOf = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const oddLine = (text: string, separator: string): string | undefined =>
  linesOf(text).find((line) => line.indexOf(separator) < 1);

/** What was typed as pairs; of a name that stands there twice the last one. */
export const pairsIn = (text: string, separator: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(separator);
      return [line.slice(0, at).trim(), line.slice(at + separator.length).trim()];
    }),
  );

/** Where the credential goes. `usual`: where upstreams of the protocol look for it. */
export const AUTH_FORMS = ['usual', 'bearer', 'header', 'none'] as const;

/** A channel as it is typed; each field is always there. Its flags are fields of the page's own. */
export class ChannelForm {
  @Matches(/^\s*[^\p{Cc}]{0,199}[^\p{Cc}\s]\s*$/u, { message: 'Enter a name of 1 to 200 characters.' })
  readonly name: string = '';

  @IsString()
  readonly protocol: string = '';

  @Matches(/\S/, { message: 'Enter the address, such as https://api.example.com/v1.' })
  readonly baseUrl: string = '';

  @IsIn(AUTH_FORMS, { message: 'Choose where the credential goes.' })
  readonly auth: string = 'usual';

  /** Of auth `header`. */
  @IsString()
  readonly authHeader: string = '';

  @Pairs('=')
  readonly query: string = '';

  @Pairs(':')
  readonly headers: string = '';

  /** Row by row with `secret`: the reference of a credential that is stored, or nothing. */
  @Several()
  @Texts()
  readonly held: readonly string[] = [];

  /** What takes its place, or a new one; empty: keeps what is stored. */
  @Several()
  @Texts()
  readonly secret: readonly string[] = [];

  /** Row by row with `upstream`; rows with both empty count for nothing. */
  @Several()
  @Texts()
  readonly public: readonly string[] = [];

  @Several()
  @Texts()
  readonly upstream: readonly string[] = [];

  /** Models, row by row with what their upstream charges: a share of the price, or prices, or nothing that is known. */
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

  /** Models without such a row, whose costs are to be unknown from now on. */
  @Several()
  @Texts()
  readonly costForgotten: readonly string[] = [];

  @Several()
  @Texts()
  readonly groups: readonly string[] = [];

  @IsCount({ message: 'Enter a whole number from 0 to 1,000.', least: 0, most: 1_000 })
  readonly tier: string = '';

  @IsCount({ message: 'Enter a whole number from 0 to 1,000,000.', least: 0, most: 1_000_000 })
  readonly weight: string = '';

  @IsCount({ message: 'Enter 1 or more, or leave it empty for no limit.', least: 1, most: 1_000_000 })
  readonly maxConcurrency: string = '';

  @Milliseconds()
  readonly connectMs: string = '';

  @Milliseconds()
  readonly firstEventMs: string = '';

  @Milliseconds()
  readonly idleMs: string = '';

  @Milliseconds()
  readonly totalMs: string = '';

  /** Of the channel when the page was opened; empty for a new one. */
  @IsString()
  readonly revision: string = '';

  @IsString()
  readonly password: string = '';
}

/** Rows of models as they are typed, also where the form is refused. */
export interface ModelRow {
  readonly public: string;
  readonly upstream: string;
}
