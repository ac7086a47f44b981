import { Transform } from 'class-transformer';

// What fields of sections are made of: what is stored, or the text that somebody has typed.

/** Text without the blanks around it; lines end alike, however a browser ends them. */
export const Text = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim().replaceAll(/\r\n?/g, '\n') : value,
  );

/** A list, or names separated by commas, blanks or lines; in lower case. */
export const Names = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string'
      ? value
          .toLowerCase()
          .split(/[\s,;]+/)
          .filter(Boolean)
      : value,
  );

/** True or false, or what a box sends that is ticked: one that is not sends nothing. */
export const Ticked = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === 'yes' ? true : value || false));

/** A whole number, or its digits; nothing typed is null. */
export const Whole = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => {
    if (typeof value !== 'string') return value;
    return value.trim() === '' ? null : Number(value.trim());
  });
