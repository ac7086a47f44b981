import Handlebars from 'handlebars';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkTemplates, loadTemplates } from '../../../platform/templates/index.js';
import { HELPERS } from './helpers.js';

describe('templates', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'views-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const handlebarsFor = (files: Readonly<Record<string, string>>): typeof Handlebars => {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const handlebars = Handlebars.create();
    handlebars.registerHelper({ ...HELPERS, wrap: () => '' });
    return handlebars;
  };
  const load = (files: Readonly<Record<string, string>>) => loadTemplates(handlebarsFor(files), folder);

  it.each([
    ['a block that is not closed', '{{#if x}}'],
    ['a helper that does not exist', '{{moeny cost}}'],
    ['a partial that does not exist', '{{> feild name="x"}}'],
    ['an icon that does not exist', '{{> icon name="cpoy"}}'],
    ['a value that has the name of a helper', '{{date}}'],
    ['a partial block, whose content would see nothing of the page', '{{#> icon}}x{{/icon}}'],
    ['a partial of a made-up name that is given nothing', '{{> (concat "ic" "on")}}'],
  ])('do not pass the check with %s, which names the file', (_mistake, text) => {
    const icon = { 'partials/icon.hbs': '{{> (concat "icons/" name) this}}', 'icons/copy.svg': '<svg/>' };
    const handlebars = handlebarsFor({ ...icon, 'keys/list.hbs': text });
    expect(() => checkTemplates(handlebars, folder)).toThrow(/^views\/keys\/list\.hbs: /);
  });

  it('pass it otherwise', () => {
    const handlebars = handlebarsFor({ 'partials/name.hbs': '[{{name}}]', 'page.hbs': '{{> name name="b"}}' });
    expect(() => checkTemplates(handlebars, folder)).not.toThrow();
  });

  it('gives templates only their own data', () => {
    const templates = load({ 'partials/name.hbs': '[{{name}}]', 'page.hbs': '{{> name}}{{> name name="b"}}' });
    expect(templates.get('page')?.({ name: 'a' })).toBe('[][b]');
  });

  it('escapes in pages but not in plain text', () => {
    const templates = load({ 'mail/code.hbs': '{{x}}', 'mail/code.text.hbs': '{{x}}' });
    expect(templates.get('mail/code')?.({ x: '<&>' })).toBe('&lt;&amp;&gt;');
    expect(templates.get('mail/code.text')?.({ x: '<&>' })).toBe('<&>');
  });

  it('hides inherited properties', () => {
    const templates = load({ 'page.hbs': '{{x.constructor.name}}{{lookup x "__proto__"}}' });
    expect(templates.get('page')?.({ x: {} })).toBe('');
  });
});
