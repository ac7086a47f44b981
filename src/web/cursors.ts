import { Injectable } from '@nestjs/common';
import { Signatures } from './signatures.js';

/** Places in a list, as they stand in addresses (`?before=`, `?after=`): signed, so that only our own come back. */
@Injectable()
export class Cursors {
  constructor(private readonly signatures: Signatures) {}

  /** @param list which list it is a place of */
  seal(list: string, place: Readonly<Record<string, string>>): string {
    return this.signatures.seal(`cursor:${list}`, place);
  }

  /** Undefined for a text that is no place of this list, or no longer one: then the first page is shown, and says so. */
  open(list: string, text: string): Readonly<Record<string, string>> | undefined {
    return this.signatures.open(`cursor:${list}`, text) as Readonly<Record<string, string>> | undefined;
  }
}
