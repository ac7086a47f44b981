import { AppError } from '../../platform/shared/index.js';

/** All JSON values of a document, nested ones included. */
const MAX_VALUES = 1_000_000;
/** Elements of the arrays at the root that grow with a conversation, by name. */
const MAX_ELEMENTS: Readonly<Record<string, number>> = {
  messages: 100_000,
  input: 100_000,
  tools: 10_000,
  functions: 10_000,
};

/** Counts the values of a request while it is scanned, so that it is refused before anything is parsed whole. */
export class JsonLimits {
  /** Values so far. */
  values = 0;
  /** The array at the root that is open, when its elements are limited. */
  private counted = '';
  private max = Infinity;
  private elements = 0;

  /**
   * A value begins, or has ended when it is no object or array.
   * @param depth the objects and arrays around it
   * @throws AppError invalid_request when it is one too many
   */
  value(depth: number): void {
    if (++this.values > MAX_VALUES)
      throw new AppError('invalid_request', `The request body has more than ${MAX_VALUES} JSON values.`);
    if (depth === 2 && ++this.elements > this.max) throw this.tooMany();
  }

  /** An object or array at the root has begun. @param name as it is written */
  member(name: string, isArray: boolean): void {
    this.elements = 0;
    this.counted = name;
    this.max = isArray && Object.hasOwn(MAX_ELEMENTS, name) ? (MAX_ELEMENTS[name] ?? Infinity) : Infinity;
  }

  private tooMany(): AppError {
    const { counted, max } = this;
    return new AppError('invalid_request', `${counted}: must have at most ${max} elements.`, {
      param: counted,
      fault: 'invalid_value',
    });
  }
}
