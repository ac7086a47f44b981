import { AppError } from '../../platform/shared/index.js';

const MAX_VALUES = 1_000_000;
/** Of any list with interpreted elements. */
export const MAX_LIST_ELEMENTS = 100_000;
/** Max elements of root arrays that grow with a conversation, by name. */
const MAX_ELEMENTS: Readonly<Record<string, number>> = {
  messages: MAX_LIST_ELEMENTS,
  input: MAX_LIST_ELEMENTS,
  contents: MAX_LIST_ELEMENTS,
  tools: 10_000,
  functions: 10_000,
};

/** Counts values during the scan, so that large requests are rejected before they are parsed. */
export class JsonLimits {
  values = 0;
  /** The open root array with limited elements. */
  private counted = '';
  private max = Infinity;
  private elements = 0;

  /**
   * A value begins, or a scalar has ended.
   * @param depth enclosing objects and arrays
   * @throws AppError invalid_request beyond the limit
   */
  value(depth: number): void {
    if (++this.values > MAX_VALUES)
      throw new AppError('invalid_request', `The request body has more than ${MAX_VALUES} JSON values.`);
    if (depth === 2 && ++this.elements > this.max) throw tooManyElements(this.counted, this.max);
  }

  /** A root member that is an object or array begins. @param name as written */
  member(name: string, isArray: boolean): void {
    this.elements = 0;
    this.counted = name;
    this.max = isArray && Object.hasOwn(MAX_ELEMENTS, name) ? (MAX_ELEMENTS[name] ?? Infinity) : Infinity;
  }
}

export const tooManyElements = (param: string, max: number): AppError =>
  new AppError('invalid_request', `${param}: must have at most ${max} elements.`, { param, fault: 'invalid_value' });
