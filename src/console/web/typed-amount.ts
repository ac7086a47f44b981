import { ValidateBy } from 'class-validator';
import { nanos, type Nanos, parseUsd } from '../../platform/shared/index.js';

/** Digits, or groups of three of them; at most six after the point, which is a ten thousandth of a cent. */
const AMOUNT = /^\$? ?(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(\.\d{0,6})?$/;

/** Dollars as people type them: `25`, `1,000.50`, `$5`. Undefined for anything else, and nothing is rounded. */
export function typedAmount(text: string): Nanos | undefined {
  const [, whole, fraction = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return parseUsd(`${whole.replaceAll(',', '')}${fraction.length > 1 ? fraction : ''}`);
}

/** The same of a field that may be left empty. @throws RangeError for what `IsAmount` does not let pass */
export function amountOf(text: string): Nanos | undefined {
  if (text.trim() === '') return undefined;
  const amount = typedAmount(text);
  if (amount === undefined) throw new RangeError(`“${text}” is not an amount.`);
  return amount;
}

interface AmountRule {
  /** What to enter, told when it was something else. */
  readonly message: string;
  readonly mayBeEmpty?: boolean;
  readonly least?: Nanos;
}

/** A field of dollars, kept as it was typed. */
export const IsAmount = ({ message, mayBeEmpty = false, least = nanos(0n) }: AmountRule): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isAmount',
      validator: {
        validate: (value: unknown) => {
          if (typeof value !== 'string') return false;
          if (value.trim() === '') return mayBeEmpty;
          const amount = typedAmount(value);
          return amount !== undefined && amount >= least;
        },
      },
    },
    { message },
  );
