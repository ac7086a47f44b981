import { Injectable } from '@nestjs/common';
import { Signatures } from './signatures.js';

/** A place next to one row of a list, which has this id; neither: the list's beginning. */
export interface RowPlace {
  readonly before?: string;
  readonly after?: string;
}

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

  /** The place that an address's query asks for; undefined as in `open`. */
  placeIn(list: string, query: Readonly<Record<string, unknown>>): RowPlace | undefined {
    const { before, after } = query;
    const sealed = before ?? after;
    if (sealed === undefined) return {};
    const id = typeof sealed === 'string' ? this.open(list, sealed)?.['id'] : undefined;
    if (id === undefined) return undefined;
    return before === undefined ? { after: id } : { before: id };
  }
}
