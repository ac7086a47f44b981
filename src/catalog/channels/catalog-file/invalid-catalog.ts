import { AppError } from '../../../platform/shared/index.js';

/** What is wrong in a catalog file, and where: `channels[0].base_url`. */
export interface EntryError {
  /** Empty when it concerns the whole file. */
  readonly path: string;
  readonly message: string;
}

/** A catalog file that was refused; nothing of it was applied. */
export class InvalidCatalog extends AppError {
  constructor(
    /** One line for each fault, ready to be shown: `catalog.yaml:12: channels[0].base_url is missing`. */
    readonly faults: readonly string[],
  ) {
    super('invalid_request', faults.join('\n'));
  }
}
