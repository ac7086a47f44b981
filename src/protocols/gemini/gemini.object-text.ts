import { isJsonObject } from '../../shared/index.js';

/** Whether a text is a JSON object: what this dialect has for arguments and for results. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
