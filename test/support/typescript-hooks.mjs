// Lets Node itself import our TypeScript: in the tests, in what Jest runs outside of them, and in programs they start.
import { transformSync } from '@swc/core';
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const OPTIONS = {
  swcrc: false,
  configFile: false,
  sourceMaps: 'inline',
  module: { type: 'es6' },
  jsc: {
    target: 'es2023',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};

const INLINE_MAP = '\n//# sourceMappingURL=';

/** By a module's URL, its source map as a data: URL, which is how Jest reads them. */
export const sourceMaps = new Map();

registerHooks({
  // Imports say .js, as they must for the compiled program; here the file beside it is .ts.
  resolve(specifier, context, next) {
    if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL !== undefined) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (!context.parentURL.includes('/node_modules/') && existsSync(source)) return next(source.href, context);
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    const { pathname } = new URL(url);
    if (!pathname.endsWith('.ts') || pathname.includes('/node_modules/')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...OPTIONS, filename });
    sourceMaps.set(url, code.slice(code.lastIndexOf(INLINE_MAP) + INLINE_MAP.length).trim());
    return { format: 'module', source: code, shortCircuit: true };
  },
});
