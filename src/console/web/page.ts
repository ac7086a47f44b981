import type { Form } from './form.js';

/** The frame around a page: `app` with the side navigation, `site` for the public ones, `auth` for a single form. */
export type Layout = 'app' | 'site' | 'auth';

/** The result of an action, told once on the page that follows it. */
export interface Flash {
  readonly tone: 'ok' | 'warn' | 'bad';
  readonly title: string;
  readonly text?: string;
  /** Where there is something to do about it. */
  readonly action?: { readonly href: string; readonly label: string };
}

export interface PageOptions {
  /** Without the product's name; of a form that was refused the renderer says so before it. */
  readonly title: string;
  /** Left out: `app` for whoever is signed in, otherwise `site`. */
  readonly layout?: Layout;
  /** `narrow` for forms and reading in `app`; `wide` for more than one form in `auth`, and for bands in `site`. */
  readonly width?: 'narrow' | 'wide';
  /** Left out: 200, or 422 when a form in the data was refused. */
  readonly status?: number;
  /** What the template reads: plain values, no entities. `form` is the form that the page shows, if it shows one. */
  readonly data?: { readonly form?: Form<object> } & Readonly<Record<string, unknown>>;
}

/** What a handler returns to have a page shown. */
export class Page {
  constructor(
    /** The template, below views/, without its ending. */
    readonly view: string,
    readonly options: PageOptions,
  ) {}
}

/** What a handler returns to send the browser elsewhere (303), with the result of what was done. */
export class Redirect {
  constructor(
    /** A path of ours. */
    readonly to: string,
    readonly flash?: Flash,
  ) {}
}
