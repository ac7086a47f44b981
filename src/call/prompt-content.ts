import type { Buffer } from 'node:buffer';
import { isImageType } from './image-types.js';
import { leansOutside, namesFile, NAME_MARKS, NO_MARKS, TYPE_MARKS } from './outside-content.js';

/** A string in a document, quotes included. */
export interface StringPlace {
  readonly start: number;
  readonly end: number;
}

/** The name of a member, as `JsonStrings` knows it. */
interface Name {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly nameEscaped: boolean;
}

/** A request that names more files is refused for one of these, or goes where none is looked at. */
const MAX_FILE_IDS = 64;

/** What a document holds beside text, told by those members of its objects that are strings. */
export class PromptContent {
  /** In either form, inline or by reference. */
  images = 0;
  /** Files that are named by their ids: of very many the first. */
  readonly fileIds: StringPlace[] = [];
  private marks = NO_MARKS;

  /** Files, items or documents are named that are not in it. */
  get leansOutside(): boolean {
    return leansOutside(this.marks);
  }

  /** An object's type is the string at `[start, end)`. @throws AppError invalid_request when it has an unknown escape */
  type(body: Buffer, start: number, end: number, escaped: boolean): void {
    if (isImageType(body, start, end, escaped)) this.images++;
    else this.marks |= TYPE_MARKS.of(body, start, end, escaped);
  }

  /** An object has a string at `[start, end)` by that name. @throws AppError likewise */
  member(body: Buffer, { nameStart, nameEnd, nameEscaped }: Name, start: number, end: number): void {
    const marks = NAME_MARKS.of(body, nameStart, nameEnd, nameEscaped);
    if (namesFile(marks) && this.fileIds.length < MAX_FILE_IDS) this.fileIds.push({ start, end });
    this.marks |= marks;
  }
}
