import { isJsonObject } from '../../../platform/shared/index.js';

/** Whether a text is a JSON object: all that many dialects take for the arguments of a call. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
