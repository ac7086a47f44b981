import { isJsonObject } from '../../shared/index.js';

/** Whether the arguments of a call are what this dialect has for them: an object. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
