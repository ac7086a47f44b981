import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json, from src/ or dist/, which have different depths. */
function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json above ${import.meta.dirname}: cannot find views.`);
    folder = parent;
  }
  return folder;
}

export const PACKAGE_ROOT = packageRoot();

/** Templates, styles and scripts. */
export const VIEWS = join(PACKAGE_ROOT, 'views');
