import { AppError } from '../../shared/index.js';

/** Header values longer than this are cut by some proxies. */
const MAX_HEADER_LENGTH = 1024;
const NOT_ASCII = /[^\x21-\x2b\x2d-\x7e]/g;

/** What of a request got lost or changed on its way into another dialect, each named by a code and a path. */
export class Losses {
  private readonly named = new Set<string>();

  /** @param strict the key wants to be refused rather than to lose anything */
  constructor(readonly strict: boolean) {}

  /**
   * Notes that something is dropped or adjusted.
   * @param code what happened, in snake case: `unsupported_tool`, `clamped`
   * @param path of the member in the client's request: `tools[2]`
   * @throws AppError invalid_request naming the path, when the key is strict
   */
  warn(code: string, path: string): void {
    if (this.strict) {
      const message = `This key is strict, and ${path} cannot be carried over to the upstream as it is (${code}).`;
      throw new AppError('invalid_request', message, { param: path, fault: 'unsupported_parameter' });
    }
    this.named.add(`${code}:${path}`.replaceAll(NOT_ASCII, '_'));
  }

  /** The same list, to be continued for one attempt. */
  fork(): Losses {
    const copy = new Losses(this.strict);
    for (const name of this.named) copy.named.add(name);
    return copy;
  }

  /** For `x-relay-warnings`; undefined when nothing was lost. As many as there is room for. */
  get header(): string | undefined {
    let text = '';
    for (const name of this.named) {
      if (text.length + name.length + 1 > MAX_HEADER_LENGTH) break;
      text += text === '' ? name : `,${name}`;
    }
    return text === '' ? undefined : text;
  }
}

/** For what no upstream of another dialect can be asked. @param path as in `Losses.warn` */
export const notTranslatable = (path: string, what: string): AppError =>
  new AppError('invalid_request', `${path} ${what}.`, { param: path, fault: 'unsupported_parameter' });

/** For a member that is not what its dialect says. */
export const malformed = (path: string, what: string): AppError =>
  new AppError('invalid_request', `${path} ${what}.`, { param: path, fault: 'invalid_value' });
