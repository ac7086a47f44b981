import { ValidateBy } from 'class-validator';

/** Digits, or groups of three of them. */
const COUNT = /^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})$/;

/** Whole numbers as people type them: `60`, `100,000`. Undefined for anything else. */
export const typedCount = (text: string): number | undefined =>
  COUNT.test(text.trim()) ? Number(text.replaceAll(',', '')) : undefined;

/** The same of a field that may be left empty. @throws RangeError for what `IsCount` does not let pass */
export function countOf(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const count = typedCount(text);
  if (count === undefined) throw new RangeError(`“${text}” is not a whole number.`);
  return count;
}

interface CountRule {
  /** What to enter, told when it was something else. */
  readonly message: string;
  readonly least: number;
  readonly most: number;
}

/** A field of a whole number that may be left empty, kept as it was typed. */
export const IsCount = ({ message, least, most }: CountRule): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isCount',
      validator: {
        validate: (value: unknown) => {
          if (typeof value !== 'string') return false;
          if (value.trim() === '') return true;
          const count = typedCount(value);
          return count !== undefined && count >= least && count <= most;
        },
      },
    },
    { message },
  );
