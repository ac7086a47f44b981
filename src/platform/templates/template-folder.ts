import Handlebars from 'handlebars';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Templates by path below views/ without extension; partials also by name alone. */
export type Templates = ReadonlyMap<string, Handlebars.TemplateDelegate>;

/** Partials see their parameters and `@root` only, so that a name has one meaning. */
const OPTIONS = { knownHelpersOnly: true, explicitPartialContext: true, preventIndent: true } as const;
const PARTIALS = 'partials/';

/**
 * All templates below a folder, each compiled at its first use and registered as a partial: `partials/field.hbs` as
 * `field`, icons (`icons/copy.svg`) and others by path. Files ending in `.text.hbs` are plain text without escaping.
 */
export function loadTemplates(handlebars: typeof Handlebars, folder: string): Templates {
  const templates = new Map<string, Handlebars.TemplateDelegate>();
  for (const { name, file, text } of sourcesIn(folder)) {
    const template = handlebars.compile<unknown>(text, optionsOf(handlebars, file));
    templates.set(name, template);
    handlebars.registerPartial(name, template);
  }
  return templates;
}

/**
 * Compiles all templates below a folder. Tests do so, since it would take a quarter of a start.
 * @throws Error naming the file that does not compile, or that uses an unknown helper or partial
 */
export function checkTemplates(handlebars: typeof Handlebars, folder: string): void {
  const sources = sourcesIn(folder);
  const names = new Set(sources.map(({ name }) => name));
  for (const { file, text } of sources) {
    const options = optionsOf(handlebars, file);
    try {
      const tree = handlebars.parse(text, { srcName: file });
      new TemplateCheck(names, options.knownHelpers).accept(tree);
      handlebars.precompile(tree, options);
    } catch (error) {
      throw new Error(`views/${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

const optionsOf = (handlebars: typeof Handlebars, file: string) => ({
  ...OPTIONS,
  knownHelpers: Object.fromEntries(Object.keys(handlebars.helpers).map((name) => [name, true])),
  noEscape: file.endsWith('.text.hbs'),
});

interface TemplateSource {
  readonly name: string;
  readonly file: string;
  readonly text: string;
}

function sourcesIn(folder: string): TemplateSource[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.hbs') || file.startsWith('icons/'))
    .map((file) => ({ name: nameOf(file), file, text: readFileSync(join(folder, file), 'utf8').trimEnd() }));
}

const nameOf = (file: string): string => file.replace(/\.(hbs|svg)$/, '').replace(PARTIALS, '');

/** Helpers without parameters. */
const BARE = ['newNonce'];

/** Finds mistakes that Handlebars would at best render into the page. */
class TemplateCheck extends Handlebars.Visitor {
  constructor(
    private readonly names: ReadonlySet<string>,
    private readonly helpers: Readonly<Record<string, boolean>>,
  ) {
    super();
  }

  override MustacheStatement(mustache: hbs.AST.MustacheStatement): void {
    const { path, params, hash } = mustache;
    const name = 'original' in path ? path.original : '';
    const bare = params.length === 0 && (hash?.pairs.length ?? 0) === 0;
    if (bare && this.helpers[name] === true && !BARE.includes(name))
      throw new Error(`{{${name}}} calls a helper; use {{this.${name}}} for a value`);
    super.MustacheStatement(mustache);
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): void {
    const { name } = partial;
    if (name.type === 'PathExpression' && !this.names.has(name.original))
      throw new Error(`unknown partial “${name.original}”`);
    // Handlebars would confuse the name with its parameters.
    if (name.type === 'SubExpression' && partial.params.length === 0)
      throw new Error('a dynamic partial needs a context: {{> (concat …) this}}');
    this.checkIcon(partial);
    super.PartialStatement(partial);
  }

  private checkIcon({ name, hash }: hbs.AST.PartialStatement): void {
    if (name.type !== 'PathExpression' || name.original !== 'icon') return;
    const icon = hash?.pairs.find(({ key }) => key === 'name')?.value;
    if (icon?.type === 'StringLiteral' && !this.names.has(`icons/${(icon as hbs.AST.StringLiteral).value}`))
      throw new Error(`there is no icon “${(icon as hbs.AST.StringLiteral).value}”`);
  }

  override PartialBlockStatement(): void {
    // Its content would not see the page's values.
    throw new Error('write {{#wrap "name" …}}…{{/wrap}} instead of {{#> name …}}');
  }
}
