import type { FastifyReply } from 'fastify';
import { Config } from '../../platform/config/index.js';
import { VisitCookies } from './current-visit.js';
import { Signatures } from './signatures.js';

function cookies(environment: Record<string, string> = {}): VisitCookies {
  const config = Config.fromEnvironment({ SECRET_KEY: 'x'.repeat(32), ...environment });
  return new VisitCookies(config, new Signatures(config));
}

/** The `set-cookie` headers. */
function setBy(work: (reply: FastifyReply) => void): string[] {
  const lines: string[] = [];
  work({ header: (_name: string, line: string) => lines.push(line) } as unknown as FastifyReply);
  return lines;
}

const sent = (line: string): string => line.split(';', 1)[0] ?? '';

describe('VisitCookies', () => {
  it('hides the token from scripts and other sites', () => {
    const [line] = setBy((reply) => cookies().setToken(reply, 'a'.repeat(43), 60));
    expect(line).toMatch(/^switchboard-visit=a{43}; /);
    expect(line).toContain('HttpOnly');
    expect(line).toContain('SameSite=Lax');
    expect(line).toContain('Path=/');
    expect(line).toContain('Max-Age=60');
    expect(line).not.toContain('Secure');
  });

  it('is bound to the host and to TLS exactly when PUBLIC_URL is https', () => {
    const secure = cookies({ PUBLIC_URL: 'https://relay.example.com' });
    const [line = ''] = setBy((reply) => secure.setToken(reply, 'a'.repeat(43)));
    expect(line).toMatch(/^__Host-switchboard-visit=a{43}; /);
    expect(line).toContain('Secure');
    expect(line).not.toMatch(/Domain|Max-Age/);
    expect(secure.read(sent(line)).token).toBe('a'.repeat(43));
    expect(cookies().read(sent(line)).token).toBeUndefined();
  });

  it('ignores invalid tokens', () => {
    for (const token of ['', 'short', `${'a'.repeat(43)}"`, 'a'.repeat(44)])
      expect(cookies().read(`switchboard-visit=${token}`).token).toBeUndefined();
  });

  it('reads the flash as set, and rejects a forged one', () => {
    const flash = { tone: 'ok', title: 'Key “ä” deleted' } as const;
    const [line = ''] = setBy((reply) => cookies().setFlash(reply, flash));
    expect(cookies().read(sent(line)).flash).toEqual(flash);
    expect(cookies().read('switchboard-flash=eyJ0b25lIjoib2sifQ.x').flash).toBeUndefined();
  });

  it('accepts two themes, and otherwise follows the system', () => {
    expect(cookies().read('switchboard-theme=dark').theme).toBe('dark');
    expect(cookies().read('switchboard-theme="><script>').theme).toBeUndefined();
    expect(setBy((reply) => cookies().setTheme(reply, undefined))[0]).toContain('Max-Age=0');
  });
});
