import { compactHtml } from './compact-html.js';

/** A response to a visit, read whole. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body; of a page, compacted. */
  readonly text: string;
  /** Where it leads; empty when nowhere. */
  readonly location: string;
}

type Fields = Readonly<Record<string, string>>;
/** A field that is there several times has a list. */
type FormFields = Readonly<Record<string, string | readonly string[]>>;

/** A browser without a window: keeps cookies, sends forms with the token of the page that it saw last. */
export class PageVisitor {
  readonly cookies = new Map<string, string>();
  /** What the forms of the last page carry: their token, and the organization they were opened in. */
  csrf = '';
  scope = '';

  constructor(
    readonly url: string,
    /** Sent with every request. */
    private readonly headers: Fields = {},
  ) {}

  async get(path: string, headers: Fields = {}): Promise<PageResponse> {
    return this.visit(path, { headers });
  }

  /** Sends a form as the page that was seen last would; see one first. */
  async post(path: string, fields: FormFields = {}, headers: Fields = {}): Promise<PageResponse> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(this.withOwn(fields)))
      for (const one of typeof value === 'string' ? [value] : value) body.append(name, one);
    return this.visit(path, { method: 'POST', body, headers });
  }

  /** Sees a page and sends the form on it. */
  async submit(path: string, fields: FormFields, to = path): Promise<PageResponse> {
    await this.get(path);
    return this.post(to, fields);
  }

  /** Goes where a response leads. */
  follow({ location }: PageResponse): Promise<PageResponse> {
    return this.get(new URL(location, this.url).href.replace(this.url, ''));
  }

  async signIn(email: string, password: string): Promise<PageResponse> {
    return this.submit('/sign-in', { email, password });
  }

  private async visit(
    path: string,
    init: { method?: string; body?: URLSearchParams; headers: Fields },
  ): Promise<PageResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie && { cookie }), ...this.headers, ...init.headers };
    const response = await fetch(`${this.url}${path}`, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.keep(line);
    const body = await response.text();
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    const text = isPage ? compactHtml(body) : body;
    const token = /name="_csrf" value="([^"]+)"/.exec(text)?.[1];
    if (token !== undefined) {
      this.csrf = token;
      this.scope = /name="_scope" value="([^"]+)"/.exec(text)?.[1] ?? '';
    }
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get('location') ?? '',
    };
  }

  private withOwn(fields: FormFields): FormFields {
    return { _csrf: this.csrf, ...(this.scope !== '' && { _scope: this.scope }), ...fields };
  }

  private keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
