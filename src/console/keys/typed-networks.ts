import { AppError } from '../../platform/shared/index.js';
import { networksOf } from '../../keys/index.js';

/** One on each line, or with commas or blanks between them. */
export const typedNetworks = (text: string): readonly string[] => text.split(/[\s,]+/).filter(Boolean);

/** What is wrong with what was typed; undefined when nothing. */
export function networksError(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Enter addresses and ranges, one per line.';
  try {
    networksOf(typedNetworks(value));
    return undefined;
  } catch (error) {
    return AppError.from(error).message;
  }
}
