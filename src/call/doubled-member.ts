import { fold } from './json-interests.js';

const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/**
 * The first member that an object of the document has twice, in whatever spelling and case; undefined when there is none.
 * Parsers differ in which of the two they take.
 * @param json valid
 */
export function doubledMember(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(fold(name)) === true) return name;
      names?.add(fold(name));
    }
  }
  return undefined;
}
