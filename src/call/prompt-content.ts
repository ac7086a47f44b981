import type { Buffer } from 'node:buffer';
import { isImageType } from './image-types.js';
import { leansOutside, namesFiles, NAME_MARKS, NO_MARKS, TYPE_MARKS } from './outside-content.js';

/** What a document holds beside text, told by those members of its objects that are strings. */
export class PromptContent {
  /** In either form, inline or by reference. */
  images = 0;
  private marks = NO_MARKS;

  /** Files, items or documents are named that are not in it. */
  get leansOutside(): boolean {
    return leansOutside(this.marks);
  }

  /** Files are named by their ids. */
  get namesFiles(): boolean {
    return namesFiles(this.marks);
  }

  /** An object's type is the string at `[start, end)`. @throws AppError invalid_request when it has an unknown escape */
  type(body: Buffer, start: number, end: number, escaped: boolean): void {
    if (isImageType(body, start, end, escaped)) this.images++;
    else this.marks |= TYPE_MARKS.of(body, start, end, escaped);
  }

  /** An object has a string by the name at `[start, end)`. @throws AppError likewise */
  member(body: Buffer, start: number, end: number, escaped: boolean): void {
    this.marks |= NAME_MARKS.of(body, start, end, escaped);
  }
}
