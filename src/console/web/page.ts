import type { Form } from './form.js';

/** The layout of a page: `app` with the side navigation, `site` for the public ones, `auth` for a single form. */
type Layout = 'app' | 'site' | 'auth';

/** The result of an action, shown once on the next page. */
export interface Flash {
  readonly tone: 'ok' | 'warn' | 'bad';
  readonly title: string;
  readonly text?: string;
  /** The next step. */
  readonly action?: { readonly href: string; readonly label: string };
}

export interface PageOptions {
  /** Without the product name. The renderer adds `Error:` if the form has errors. */
  readonly title: string;
  /** One or two sentences for search engines; for public pages. */
  readonly description?: string | undefined;
  /** Default: `app` if signed in, else `site`. */
  readonly layout?: Layout;
  /** `narrow` for forms and reading in `app`; `wide` for more than one form in `auth`, and for bands in `site`. */
  readonly width?: 'narrow' | 'wide';
  /** Whether the page shows a secret, such as a new API key: its size must not reveal anything about it. */
  readonly hasSecret?: boolean;
  /** Address, also elsewhere, that the browser goes on to at once. */
  readonly continuesAt?: string;
  /** Default: 200, or 422 if `data.form` has errors. */
  readonly status?: number | undefined;
  /** Template data: plain values, no entities. */
  readonly data?: { readonly form?: Form<object> } & Readonly<Record<string, unknown>>;
}

/** Returned by a handler to render a page. */
export class Page {
  constructor(
    /** Template in views/, without extension. */
    readonly view: string,
    readonly options: PageOptions,
  ) {}
}

/** Returned by a handler to redirect (303), with an optional flash. */
export class Redirect {
  constructor(
    readonly to: string,
    readonly flash?: Flash,
  ) {}
}

const HERE = 'http://here.invalid';

/** Resolves a submitted return path as a browser would; `fallback` for anything that leads to another site. */
export function localPath(text: unknown, fallback = '/'): string {
  if (typeof text !== 'string' || !text.startsWith('/') || !URL.canParse(text, HERE)) return fallback;
  const url = new URL(text, HERE);
  return url.origin === HERE && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}${url.hash}` : fallback;
}

/** Thrown to redirect (303) to a step that is required first. */
export class StepRequired extends Error {
  constructor(readonly to: string) {
    super(`Go to ${to} first.`);
  }
}
