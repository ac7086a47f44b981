import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json: from src/ and from what was built of it, which lie at different depths. */
function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json above ${import.meta.dirname}: cannot find views.`);
    folder = parent;
  }
  return folder;
}

/** Where package.json lies. */
export const PACKAGE_ROOT = packageRoot();

/** Where templates, styles and scripts lie. */
export const VIEWS = join(PACKAGE_ROOT, 'views');
