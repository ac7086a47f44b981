import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Config } from './config.js';

const SECRET_KEY = 'a test has no secrets'.padEnd(32, '.');
const config = (variables: Record<string, string | undefined> = {}): Config =>
  Config.fromEnvironment({ SECRET_KEY, ...variables });

describe('the configuration', () => {
  it('has the documented defaults', () => {
    expect(config()).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      publicUrl: undefined,
      dataDir: join(process.cwd(), 'data'),
      databaseUrl: undefined,
      logLevel: 'info',
      logFormat: 'auto',
      demo: 'auto',
      trustedProxies: [],
      shutdownGraceMs: 30_000,
      shutdownDelayMs: 0,
      maxBodyBytes: 64 * 1024 * 1024,
      production: false,
    });
  });

  it('limits bodies to a quarter of memory, together and each', () => {
    const { bodyMemoryBytes, sharedMemoryBytes } = config();
    expect(bodyMemoryBytes).toBeGreaterThan(0);
    expect(sharedMemoryBytes).toBe(Math.floor(bodyMemoryBytes / 4));
    expect(bodyMemoryBytes).toBeLessThanOrEqual(totalmem() / 4);
    expect(config({ BODY_MEMORY_BYTES: '100000' })).toMatchObject({ bodyMemoryBytes: 100_000, maxBodyBytes: 100_000 });
  });

  it('divides the memory limit between workers', () => {
    const [alone, shared] = [config(), config({ WORKERS: '4' })];
    expect(shared.bodyMemoryBytes).toBe(Math.floor(alone.bodyMemoryBytes / 4));
    expect(shared.sharedMemoryBytes).toBe(Math.floor(alone.sharedMemoryBytes / 4));
    expect(config({ WORKERS: '2', BODY_MEMORY_BYTES: '100000' })).toMatchObject({
      bodyMemoryBytes: 50_000,
      maxBodyBytes: 50_000,
    });
  });

  it('treats an empty variable as unset', () => {
    expect(config({ PORT: '', LOG_LEVEL: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: undefined });
  });

  it('reports one error per invalid number', () => {
    expect(() => config({ WORKERS: 'two' })).toThrow(/: WORKERS must be an integer number\.$/);
    expect(() => config({ WORKERS: '0' })).toThrow(/: WORKERS must not be less than 1\.$/);
  });

  it('reports all invalid variables in one message', () => {
    const wrong = {
      PORT: '70000',
      HOST: 'h',
      LOG_LEVEL: 'loud',
      LOG_FORMAT: 'xml',
      DEMO: 'maybe',
      DATABASE_URL: 'mysql://x',
      SECRET_KEY: 'short',
    };
    expect(() => config(wrong)).toThrow(
      /PORT[^;]*; .*DATABASE_URL[^;]*; .*SECRET_KEY[^;]*; .*LOG_LEVEL[^;]*; .*LOG_FORMAT[^;]*; .*DEMO/,
    );
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '1.5'],
    ['PUBLIC_URL', 'relay.example.com'],
    ['MAX_BODY_BYTES', '-1'],
    ['SHUTDOWN_GRACE_MS', 'soon'],
    ['SHUTDOWN_DELAY_MS', '30001'],
    ['SESSION_IDLE_HOURS', '0'],
    ['SESSION_IDLE_HOURS', '721'],
    ['CALLS_RETENTION_MONTHS', '0'],
    ['CALLS_RETENTION_MONTHS', '1.5'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => config({ [name]: value })).toThrow(name);
  });

  it('removes the trailing slash of PUBLIC_URL and splits TRUSTED_PROXIES', () => {
    const { publicUrl, trustedProxies } = config({
      PUBLIC_URL: 'https://relay.example.com/',
      TRUSTED_PROXIES: '10.0.0.1, 10.0.0.2,',
    });
    expect(publicUrl).toBe('https://relay.example.com');
    expect(trustedProxies).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it.each([
    'loopback',
    '127.0.0.1, ::1',
    '10.0.0.0/8,fd00::/8',
    'uniquelocal,linklocal,192.0.2.7/32',
    '::ffff:10.0.0.1',
  ])('trusts these proxies: %s', (TRUSTED_PROXIES) => {
    expect(config({ TRUSTED_PROXIES }).trustedProxies).toEqual(TRUSTED_PROXIES.split(/, ?/));
  });

  it.each([
    '*',
    'true',
    '1',
    'proxy.example.com',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '::/0',
    '10.0.0',
    '10.0.0.1:80',
    '::1/129',
  ])('rejects the proxy %s', (entry) =>
    expect(() => config({ TRUSTED_PROXIES: `127.0.0.1,${entry}` })).toThrow('TRUSTED_PROXIES must list'),
  );

  it('reads HTTPS_PROXY in either case, and masks its password', () => {
    const address = 'http://user:hunter2@proxy.example.com:3128';
    for (const name of ['HTTPS_PROXY', 'https_proxy']) {
      const { httpsProxy } = config({ [name]: address });
      expect(httpsProxy?.reveal()).toBe(address);
      expect(inspect(httpsProxy)).not.toContain('hunter2');
    }
    expect(config({ no_proxy: '.Example.com 10.0.0.0/8,[::1]:443' }).noProxy).toEqual([
      '.example.com',
      '10.0.0.0/8',
      '[::1]:443',
    ]);
    expect(config({ HTTPS_PROXY: 'http://one', https_proxy: 'http://other' }).httpsProxy?.reveal()).toBe('http://one');
    expect(config()).toMatchObject({ httpsProxy: undefined, noProxy: [] });
  });

  it.each([
    ['HTTPS_PROXY', 'proxy.internal:8080'],
    ['HTTPS_PROXY', 'socks5://proxy.example.com'],
    ['https_proxy', 'https://:8080'],
    ['HTTPS_PROXY', 'http://proxy.example.com/path'],
    ['NO_PROXY', 'https://api.example.com'],
    ['NO_PROXY', '10.0.0.0/99'],
    ['no_proxy', 'a;b'],
    ['NODE_EXTRA_CA_CERTS', '/nowhere/ca.pem'],
  ])('rejects %s=%s without showing the value', (name, value) => {
    expect(() => config({ [name]: value })).toThrow(`${name.toUpperCase()} must be`);
    expect(() => config({ [name]: value })).not.toThrow(value);
  });

  it.each(['authorization=Bearer%20t0k%3D', 'x-team=relay, x-empty=', 'x=a=b'])(
    'shows the collector of traces these headers: %s',
    (OTEL_EXPORTER_OTLP_HEADERS) =>
      expect(config({ OTEL_EXPORTER_OTLP_HEADERS }).otlpHeaders?.reveal()).toBe(OTEL_EXPORTER_OTLP_HEADERS),
  );

  it.each(['authorization', '=value', 'x=a,,y=b', 'x=%zz', 'x=%ff', 'x=a%0D%0Ay: b', 'x y=a', 'x:=a'])(
    'shows the collector of traces no headers like %s',
    (OTEL_EXPORTER_OTLP_HEADERS) =>
      expect(() => config({ OTEL_EXPORTER_OTLP_HEADERS })).toThrow('OTEL_EXPORTER_OTLP_HEADERS must be name=value'),
  );

  it('is frozen and prints no secret', () => {
    const settings = config({
      DATABASE_URL: 'postgres://user:hunter2@db/x',
      SMTP_URL: 'smtp://user:hunter2@mail.example.com',
    });
    expect(Object.isFrozen(settings)).toBe(true);
    const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
    expect(inspect(settings) + JSON.stringify(settings, asText)).not.toMatch(/hunter2|no secrets/);
    expect(settings.databaseUrl?.reveal()).toContain('hunter2');
  });

  describe('the secret key', () => {
    let dataDir: string;
    beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'switchboard-config-'))));
    afterEach(() => rmSync(dataDir, { recursive: true }));

    it('is generated on the first run, readable by its owner only, and then reused', () => {
      const first = Config.fromEnvironment({ DATA_DIR: dataDir }).secretKey.reveal();
      const file = join(dataDir, 'secret.key');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readFileSync(file, 'utf8').trim()).toBe(first);
      expect(Buffer.from(first, 'base64url')).toHaveLength(32);
      expect(Config.fromEnvironment({ DATA_DIR: dataDir }).secretKey.reveal()).toBe(first);
    });

    it('is not read from an invalid file', () => {
      writeFileSync(join(dataDir, 'secret.key'), '');
      expect(() => Config.fromEnvironment({ DATA_DIR: dataDir })).toThrow('secret.key contains no key');
    });

    it('is required in production with an external database', () => {
      const production = { DATA_DIR: dataDir, DATABASE_URL: 'postgres://db/x', NODE_ENV: 'production' };
      expect(() => Config.fromEnvironment(production)).toThrow('SECRET_KEY (32+ characters) is required');
    });
  });
});
