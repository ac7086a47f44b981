import type { Buffer } from 'node:buffer';
import {
  isImageType,
  isToolData,
  hasOutsideContent,
  NAME_MARKS,
  NO_MARKS,
  type StateMember,
  stateMemberOf,
  TYPE_MARKS,
} from './outside-content.js';

/** Position of an ID of upstream state, including quotes. */
export interface StateIdPlace {
  readonly member: StateMember;
  readonly start: number;
  readonly end: number;
  /** Within a tool's own data, in protocols with such members. */
  readonly isToolData: boolean;
}

/** Requests with more are rejected. */
export const MAX_STATE_IDS = 20_000;

/** Non-text content of a document, detected by string members. */
export class PromptContent {
  /** Inline or by reference. */
  images = 0;
  /** Up to one more than `MAX_STATE_IDS`. */
  readonly stateIds: StateIdPlace[] = [];
  private marks = NO_MARKS;
  /** Depth of the outermost open tool data; undefined: none. */
  private toolDataDepth: number | undefined;

  /** Whether files, items or documents outside the body are referenced. */
  get hasOutsideContent(): boolean {
    return hasOutsideContent(this.marks);
  }

  /** An object or array begins as the value of the member named at `[start, end)`. */
  open(body: Buffer, depth: number, start: number, end: number, isObject: boolean): void {
    if (this.toolDataDepth === undefined && isToolData(body, start, end, isObject)) this.toolDataDepth = depth;
  }

  /** The object or array at this depth ends. */
  close(depth: number): void {
    if (this.toolDataDepth === depth) this.toolDataDepth = undefined;
  }

  /**
   * An object's type is the string at `[start, end)`. @throws AppError invalid_request when it has an invalid escape
   */
  type(body: Buffer, start: number, end: number, escaped: boolean): void {
    if (isImageType(body, start, end, escaped)) this.images++;
    else this.marks |= TYPE_MARKS.of(body, start, end, escaped);
  }

  /** An object has a string member. @throws AppError likewise */
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
