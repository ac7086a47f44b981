import type { Interruption } from '../protocols/contract/index.js';

/**
 * What the promise resolves with; `discard` gets it when it comes too late.
 * @throws as the interruption says when that comes first
 */
export function unlessInterrupted<T>(
  promise: Promise<T>,
  interruption: Interruption,
  discard: (late: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let interrupted = false;
    const detach = interruption.listen((error) => {
      interrupted = true;
      reject(error);
      return true;
    });
    promise.then((value) => (interrupted ? discard(value) : resolve(value)), reject).finally(detach);
  });
}
