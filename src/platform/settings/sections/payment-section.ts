import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsBoolean, IsString, Matches, ValidateBy } from 'class-validator';
import { Names, Text, Ticked } from './typed.js';

/** Dollars and cents. */
const AMOUNT = /^\d{1,6}(\.\d{1,2})?$/;
/** The provider takes no less. */
const MIN = 0.5;
const DOLLARS = 'Enter an amount of at least 0.50, such as 5 or 7.50.';

const isPayable = (value: unknown): boolean => typeof value === 'string' && AMOUNT.test(value) && Number(value) >= MIN;

const IsPayable = (): PropertyDecorator =>
  ValidateBy({ name: 'isPayable', validator: { validate: isPayable } }, { message: DOLLARS });

/** How users pay. */
export class PaymentSection {
  /** Whether people can pay, where all that it takes is set. */
  @Ticked()
  @IsBoolean({ message: 'Select or clear the checkbox.' })
  readonly enabled: boolean = true;

  /** The provider's secret key as it is stored; empty: there is none. */
  @IsString()
  readonly sealedSecretKey: string = '';

  /** What the provider signs its events with, as it is stored; empty: there is none. */
  @IsString()
  readonly sealedWebhookSecret: string = '';

  /** US dollars that people choose among. */
  @Names()
  @ValidateBy(
    { name: 'arePayable', validator: { validate: (values) => Array.isArray(values) && values.every(isPayable) } },
    { message: 'Enter amounts of at least 0.50, separated by commas, such as 10, 25, 50.' },
  )
  @ArrayMaxSize(6, { message: 'Enter at most 6 amounts.' })
  @ArrayNotEmpty({ message: 'Enter at least one amount.' })
  @IsArray()
  readonly amounts: readonly string[] = ['10', '25', '50', '100'];

  /** Of another amount, in US dollars. */
  @Text()
  @IsPayable()
  readonly smallest: string = '5';

  @Text()
  @ValidateBy(
    {
      name: 'isNotBelowSmallest',
      validator: {
        validate: (value, of) => Number(value) >= Number((of?.object as PaymentSection | undefined)?.smallest ?? 0),
      },
    },
    { message: 'Enter at least the minimum amount.' },
  )
  @Matches(AMOUNT, { message: DOLLARS })
  readonly largest: string = '500';
}
