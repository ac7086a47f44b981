// Where a Chromium is on this machine: the one that CHROMIUM_PATH names, or where packages and people usually put it.
// Run as a program it prints the path, or says that there is none and ends with 1.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** @throws Error that says what to install: no test is skipped for the lack of a browser */
export function findChromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const places = [
    process.env['CHROMIUM_PATH'] ?? '',
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...APPLICATIONS,
  ];
  const found = places.find(isProgram);
  if (found === undefined)
    throw new Error('The browser tests need Chromium or Chrome: install it, or name it in CHROMIUM_PATH.');
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    process.stdout.write(`${findChromium()}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
