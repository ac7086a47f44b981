import { Transform } from 'class-transformer';

/** A field of a form without the blanks around what was typed. What is no text is left to the field's own rules. */
export const Trimmed = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value));
