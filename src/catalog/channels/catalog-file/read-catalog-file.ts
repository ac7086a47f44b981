import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import { CatalogDocument } from './catalog-document.js';
import { CatalogFileDto } from './catalog-file.dto.js';
import { isMapping } from './fields.js';
import type { EntryError, InvalidCatalog } from './invalid-catalog.js';

/** A catalog file whose every entry has the right form; whether its names fit together is not known yet. */
export interface CatalogFile {
  readonly entries: CatalogFileDto;
  /** The error that tells of further faults with their lines in this file. */
  readonly refusal: (faults: readonly EntryError[]) => InvalidCatalog;
}

/**
 * @param fileName how messages name the file
 * @throws InvalidCatalog with all faults of form at once
 */
export function readCatalogFile(text: string, fileName: string): CatalogFile {
  const document = new CatalogDocument(text, fileName);
  if (!isMapping(document.content))
    throw document.refusal([{ path: '', message: 'must contain at least one of groups, models, channels and limits' }]);
  const { entries, faults } = readEntries(document.content);
  if (faults.length > 0) throw document.refusal(faults);
  return { entries, refusal: (more) => document.refusal(more) };
}

/** What a file says, however it was written: numbers in it are `Numeral`s. Entries with faults must not be used. */
export function readEntries(content: object): {
  readonly entries: CatalogFileDto;
  readonly faults: readonly EntryError[];
} {
  const entries = plainToInstance(CatalogFileDto, content);
  const errors = validateSync(entries, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  return { entries, faults: errors.flatMap((error) => validationErrors(error, '')) };
}

function validationErrors({ property, constraints, children }: ValidationError, parent: string): EntryError[] {
  const path = /^\d+$/.test(property) ? `${parent}[${property}]` : parent === '' ? property : `${parent}.${property}`;
  const inner = children?.flatMap((child) => validationErrors(child, path)) ?? [];
  const message = constraints && messageOf(constraints);
  return message === undefined ? inner : [{ path, message }, ...inner];
}

/** The checks are ours and word their own message; the library adds two of its own. */
function messageOf(constraints: Readonly<Record<string, string>>): string | undefined {
  if ('whitelistValidation' in constraints) return 'is not a catalog field';
  return Object.entries(constraints).find(([name]) => name !== 'nestedValidation')?.[1];
}
