import type { Buffer } from 'node:buffer';
import {
  isImageType,
  isToolData,
  leansOutside,
  NAME_MARKS,
  NO_MARKS,
  type StateMember,
  stateMemberOf,
  TYPE_MARKS,
} from './outside-content.js';

/** Place of an id of upstream state, quotes included. */
export interface StateIdPlace {
  readonly member: StateMember;
  readonly start: number;
  readonly end: number;
  /** Within what is a tool's own data in protocols with such members. */
  readonly isToolData: boolean;
}

/** No honest conversation names more; a request with more is refused. */
export const MAX_STATE_IDS = 20_000;

/** What a document holds beside text, told by those members of its objects that are strings. */
export class PromptContent {
  /** In either form, inline or by reference. */
  images = 0;
  /** At most one more than `MAX_STATE_IDS`. */
  readonly stateIds: StateIdPlace[] = [];
  private marks = NO_MARKS;
  /** By how many objects and arrays the outermost data of a tool is enclosed that is open; undefined: none is. */
  private toolDataDepth: number | undefined;

  /** Files, items or documents are named that are not in it. */
  get leansOutside(): boolean {
    return leansOutside(this.marks);
  }

  /** A member's value at this depth, an object or array, begins; its name is at `[start, end)`. */
  open(body: Buffer, depth: number, start: number, end: number, isObject: boolean): void {
    if (this.toolDataDepth === undefined && isToolData(body, start, end, isObject)) this.toolDataDepth = depth;
  }

  /** The object or array at this depth ends. */
  close(depth: number): void {
    if (this.toolDataDepth === depth) this.toolDataDepth = undefined;
  }

  /** An object's type is the string at `[start, end)`. @throws AppError invalid_request when it has an unknown escape */
  type(body: Buffer, start: number, end: number, escaped: boolean): void {
    if (isImageType(body, start, end, escaped)) this.images++;
    else this.marks |= TYPE_MARKS.of(body, start, end, escaped);
  }

  /** An object has the string at `[valueStart, valueEnd)` by the name at `[start, end)`. @throws AppError likewise */
  member(body: Buffer, start: number, end: number, escaped: boolean, valueStart: number, valueEnd: number): void {
    const mark = NAME_MARKS.of(body, start, end, escaped);
    if (mark === NO_MARKS) return;
    this.marks |= mark;
    const member = stateMemberOf(mark);
    if (member !== undefined && this.stateIds.length <= MAX_STATE_IDS)
      this.stateIds.push({
        member,
        start: valueStart,
        end: valueEnd,
        isToolData: this.toolDataDepth !== undefined,
      });
  }
}
