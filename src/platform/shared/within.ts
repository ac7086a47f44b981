/**
 * What the promise resolves with, or undefined when that takes longer: waiting, but not for ever. Rejects when the
 * promise does in time; the promise itself goes on either way, and a later rejection of it is nobody's.
 */
export async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, limitMs, undefined)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
