// Somebody with a browser: signs in as people do and asks for pages, over one connection that stays open.
import { Agent, type IncomingMessage, request } from 'node:http';

/** A response as it came. Times in ms since it was asked for. */
export interface Visit {
  readonly status: number;
  readonly location: string;
  /** Until the first byte of the body, and until its end. */
  readonly firstMs: number;
  readonly lastMs: number;
}

interface Question {
  readonly path: string;
  readonly form?: URLSearchParams;
  /** Given each piece of the response as it comes. */
  readonly onPiece: (piece: Buffer) => void;
}

export class Visitor {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly cookies = new Map<string, string>();
  private readonly origin: string;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** @throws when these are not let in */
  async signIn(email: string, password: string): Promise<void> {
    const { text } = await this.read('/sign-in');
    const form = new URLSearchParams({ _csrf: /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '', email, password });
    const { location, status } = await this.ask({ path: '/sign-in', form, onPiece: () => undefined });
    if (status !== 303 || location !== '/') throw new Error(`${email} was not signed in: status ${status}.`);
  }

  /** The whole response. */
  async read(path: string): Promise<Visit & { readonly text: string }> {
    const pieces: Buffer[] = [];
    const visit = await this.ask({ path, onPiece: (piece) => pieces.push(piece) });
    return { ...visit, text: Buffer.concat(pieces).toString() };
  }

  /** Takes the response as fast as it comes, and keeps nothing of it. */
  take(path: string, onPiece: (piece: Buffer) => void = () => undefined): Promise<Visit> {
    return this.ask({ path, onPiece });
  }

  leave(): void {
    this.agent.destroy();
  }

  private ask({ path, form, onPiece }: Question): Promise<Visit> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      accept: 'text/html',
      cookie,
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    return new Promise((resolve, reject) => {
      const begunAt = performance.now();
      const asked = request(new URL(path, this.origin), { method: form ? 'POST' : 'GET', agent: this.agent, headers });
      asked.once('error', reject);
      asked.once('response', (answer) => {
        let firstMs: number | undefined;
        this.keep(answer);
        answer.on('data', (piece: Buffer) => {
          firstMs ??= performance.now() - begunAt;
          onPiece(piece);
        });
        answer.once('error', reject);
        answer.once('end', () => {
          const lastMs = performance.now() - begunAt;
          const { statusCode: status = 0, headers: told } = answer;
          resolve({ status, location: told.location ?? '', firstMs: firstMs ?? lastMs, lastMs });
        });
      });
      asked.end(form?.toString());
    });
  }

  private keep({ headers }: IncomingMessage): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
