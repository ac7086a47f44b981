import Handlebars from 'handlebars';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HELPERS } from '../src/console/web/rendering/helpers.js';
import { checkTemplates } from '../src/platform/templates/index.js';

const VIEWS = resolve(import.meta.dirname, '../views');
/** Characters of a line. Prettier does not format templates. */
const MAX_LENGTH = 120;

const longLines = (name: string, template: string): readonly string[] =>
  template
    .split('\n')
    .flatMap((line, index) => (line.length > MAX_LENGTH ? [`views/${name}:${index + 1}: ${line.length}`] : []));

describe('templates', () => {
  it('compile, and name only helpers, partials and icons that exist', () => {
    const handlebars = Handlebars.create();
    handlebars.registerHelper({ ...HELPERS, asset: () => '', wrap: () => '' });
    expect(() => checkTemplates(handlebars, VIEWS)).not.toThrow();
  });

  it('have lines of at most 120 characters', () => {
    const names = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.hbs'));
    expect(names.length).toBeGreaterThan(100);
    expect(names.flatMap((name) => longLines(name, readFileSync(join(VIEWS, name), 'utf8')))).toEqual([]);
  });

  it('finds a line that is too long', () => {
    expect(longLines('page.hbs', `<p>\n${'x'.repeat(MAX_LENGTH + 1)}\n</p>`)).toEqual(['views/page.hbs:2: 121']);
  });
});
