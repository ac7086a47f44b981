import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { VIEWS } from '../../../platform/config/index.js';
import { loadTemplates, type Templates } from '../../../platform/templates/index.js';
import type { Page } from '../page.js';
import { AssetStore } from './asset-store.js';
import { type PageLayout, layoutValues } from './page-layout.js';
import { HELPERS } from './helpers.js';

export interface RenderedPage {
  readonly status: number;
  readonly html: string;
}

/** The only getter that templates may read, of `Form`. */
const READABLE: Handlebars.RuntimeOptions = { allowedProtoProperties: { refused: true } };

/** Renders the templates in views/. */
@Injectable()
export class ViewEngine {
  private readonly handlebars = Handlebars.create();
  private readonly templates: Templates;

  constructor(assets: AssetStore) {
    this.handlebars.registerHelper({
      ...HELPERS,
      asset: (name: string) => assets.addressOf(name),
      wrap: wrapWith((name) => this.template(name)),
    });
    this.templates = loadTemplates(this.handlebars, VIEWS);
  }

  /** A page in its layout; form errors set the status 422 and mark the title. */
  render({ view, options }: Page, layout: PageLayout): RenderedPage {
    const { title, data = {}, width, description, continuesAt } = options;
    const shown = layoutValues(layout);
    const failed = data.form?.refused === true;
    const name = options.layout ?? (layout.visit.visitor === undefined ? 'site' : 'app');
    const body = this.renderBare(view, { ...data, layout: shown });
    return {
      status: options.status ?? (failed ? 422 : 200),
      html: this.renderBare(`layouts/${name}`, {
        title,
        failed,
        width,
        description,
        continuesAt,
        body,
        layout: shown,
      }),
    };
  }

  renderBare(view: string, data: Readonly<Record<string, unknown>>): string {
    return this.template(view)(data, READABLE);
  }

  private template(name: string): Handlebars.TemplateDelegate {
    const template = this.templates.get(name);
    if (template === undefined) throw new Error(`Template views/${name}.hbs not found.`);
    return template;
  }
}

/** `{{#wrap "card" title="…"}}…{{/wrap}}`: renders a partial with the block as `body`. */
const wrapWith = (template: (name: string) => Handlebars.TemplateDelegate) =>
  function wrap(this: unknown, name: string, { hash, data, fn }: Handlebars.HelperOptions): Handlebars.SafeString {
    return new Handlebars.SafeString(template(name)({ ...hash, body: fn(this) }, { data: data as unknown }));
  };
