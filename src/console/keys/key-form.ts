import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, ValidateBy } from 'class-validator';
import { networksOf } from '../../keys/index.js';
import { LARGEST_LIMIT } from '../../platform/limits/index.js';
import { AppError, isDay, nanos } from '../../platform/shared/index.js';
import { IsAmount, IsCount } from '../web/index.js';

const NO_LIMIT = 'Enter an amount in dollars, such as 25 or 1,000.50, or leave empty for no limit.';
const CENT = nanos(10_000_000n);

const Limit = (): PropertyDecorator => IsAmount({ message: NO_LIMIT, mayBeEmpty: true });

const Rate = (): PropertyDecorator =>
  IsCount({
    message: 'Enter an integer of at least 1, or leave empty for the default.',
    least: 1,
    most: LARGEST_LIMIT,
  });

/** Ticked boxes: none, one, or several. */
const Ticked = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value : [value ?? []].flat()));

/** What a ticked box sends; one that is not ticked sends nothing. */
export const TICKED = 'yes';

const Box = (): PropertyDecorator => IsIn([TICKED, ''], { message: 'Select or clear the checkbox.' });

/** The settings of a key as they are typed; each field is always there. */
export class KeyForm {
  @Matches(/^\s*[^\p{Cc}]{0,59}[^\p{Cc}\s]\s*$/u, {
    message: 'Enter a name of 1 to 60 characters, such as the tool that will use the key.',
  })
  readonly name: string = '';

  /** The name of a group. */
  @IsString({ message: 'Choose a group.' })
  readonly group: string = '';

  @Limit()
  readonly quota: string = '';

  @Limit()
  readonly daily: string = '';

  @Limit()
  readonly weekly: string = '';

  @Limit()
  readonly monthly: string = '';

  @Rate()
  readonly callsPerMinute: string = '';

  @Rate()
  readonly tokensPerMinute: string = '';

  /** At the same time. */
  @Rate()
  readonly concurrency: string = '';

  /** The last day on which it is accepted. */
  @ValidateBy(
    {
      name: 'isDayOrNothing',
      validator: { validate: (value) => value === '' || (typeof value === 'string' && isDay(value)) },
    },
    { message: 'Enter a date, or leave empty for no expiry.' },
  )
  readonly expires: string = '';

  /** One on each line; none: anywhere. */
  @ValidateBy({
    name: 'areNetworks',
    validator: {
      validate: (value) => networksError(value) === undefined,
      defaultMessage: (of) => networksError(of?.value) ?? '',
    },
  })
  readonly networks: string = '';

  /** None ticked: all. */
  @Ticked()
  @IsString({ each: true, message: 'Select models from the list.' })
  readonly models: readonly string[] = [];

  @Box()
  readonly strict: string = '';

  @Box()
  readonly neverStores: string = '';
}

/** The same over a key that there is. */
export class KeyChangeForm extends KeyForm {
  /** Of the key, when its settings were shown. */
  @Matches(/^\d{1,9}$/, { message: 'This form is incomplete. Reload the page and try again.' })
  readonly version: string = '';
}

export class RaiseForm {
  @IsAmount({ message: 'Enter an amount of at least 0.01 dollars.', least: CENT })
  readonly quota: string = '';
}

export class NameForm {
  @Matches(/^\s*[^\p{Cc}]{0,59}[^\p{Cc}\s]\s*$/u, { message: 'Enter a name of 1 to 60 characters for the new key.' })
  readonly name: string = '';
}

export class ConfirmForm {
  @IsString()
  readonly confirm: string = '';
}

/** One on each line, or with commas or blanks between them. */
export const typedNetworks = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean);

/** What is wrong with what was typed; undefined when nothing. */
function networksError(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Enter addresses and ranges, one per line.';
  try {
    networksOf(typedNetworks(value));
    return undefined;
  } catch (error) {
    return AppError.from(error).message;
  }
}
