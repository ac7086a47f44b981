import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../shared/index.js';
import { PACKAGE_ROOT } from '../config/index.js';

/** Of this program, as its package.json has it. */
export function programVersion(): string {
  const described: unknown = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  return isJsonObject(described) ? String(described['version']) : '';
}
