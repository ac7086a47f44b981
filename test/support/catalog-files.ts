import { InvalidCatalog, readCatalogFile } from '../../src/catalog/channels/catalog-file/read-catalog-file.js';

/** The entries of a catalog file's text. @throws InvalidCatalog */
export const entriesIn = (text: string): ReturnType<typeof readCatalogFile>['entries'] =>
  readCatalogFile(text, 'catalog.yaml').entries;

/** What is wrong with a catalog file's text; empty when it can be read. */
export function errorsOf(text: string): readonly string[] {
  try {
    entriesIn(text);
  } catch (error) {
    if (error instanceof InvalidCatalog) return error.errors;
    throw error;
  }
  return [];
}
