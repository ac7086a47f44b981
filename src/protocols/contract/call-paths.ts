/**
 * Stands for the model in a call path whose requests name it there: `/v1beta/models/{model}:generateContent`. In
 * requests it is one percent-encoded segment.
 */
const MODEL = '{model}';

/** The text that a request's path has for the model, percent-encoded; empty if the call path names none. */
function segmentOf(callPath: string, path: string): string | undefined {
  const at = callPath.indexOf(MODEL);
  if (at < 0) return path === callPath ? '' : undefined;
  const [before, after] = [callPath.slice(0, at), callPath.slice(at + MODEL.length)];
  const end = path.length - after.length;
  if (end <= at || !path.startsWith(before) || !path.endsWith(after)) return undefined;
  const segment = path.slice(at, end);
  return segment.includes('/') ? undefined : segment;
}

/** Whether a request's path is that of the endpoint. */
export const matchesCallPath = (callPath: string, path: string): boolean => segmentOf(callPath, path) !== undefined;

/** The model that a request's path names; undefined if it names none. */
export function modelInPath(callPaths: readonly string[], path: string): string | undefined {
  for (const callPath of callPaths) {
    const segment = segmentOf(callPath, path);
    if (segment === undefined || segment === '') continue;
    try {
      return decodeURIComponent(segment);
    } catch {
      // Not valid UTF-8: no model has this name.
      return undefined;
    }
  }
  return undefined;
}

/** The path of requests for a model. */
export const pathForModel = (callPath: string, model: string): string =>
  callPath.replace(MODEL, () => encodeURIComponent(model));

/** The path as a pattern of the HTTP router, in which a colon begins a parameter. */
export const routeOf = (callPath: string): string => callPath.replaceAll(':', '::').replace(MODEL, ':model(.+)');
