/** A number as it stands in a file: its text, because a JavaScript number would not keep a decimal exactly. */
export class Numeral {
  constructor(readonly source: string) {}
}

/** Text as it was meant: a name or a version that looks like a number is taken as it is written. */
export const textOf = (value: unknown): unknown => (value instanceof Numeral ? value.source : value);
