import pg from 'pg';
import { callbackify } from 'node:util';
import { codeOf, reasonOf } from '../shared/index.js';
import { hostUrls } from './connection-url.js';
import { PASSING } from './database.errors.js';

/** Max ms for a host to connect and to say whether it accepts writes. */
const PROBE_TIMEOUT_MS = 2000;

/** The errors of all hosts in one, with the code of the one that needs attention, if any. */
class NoWritableHost extends Error {
  readonly code: string;

  constructor(reasons: readonly unknown[]) {
    super(`cannot connect to a host that accepts writes (${reasons.map(reasonOf).join('; ')})`);
    const codes = reasons.map(codeOf).filter((code) => code !== '');
    this.code = codes.find((code) => !PASSING.has(code)) ?? 'ECONNREFUSED';
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Which host of a URL accepts writes. All connections of the process share what one of them has found. */
class PrimaryLookup {
  private static readonly byHosts = new Map<string, PrimaryLookup>();
  private found: Promise<Address> | undefined;

  private constructor(private readonly urls: readonly string[]) {}

  /** The same for all roles, which are parameters of the URL. */
  static of(urls: readonly string[]): PrimaryLookup {
    const key = urls.map((url) => url.replace(/\?.*$/, '')).join();
    const lookup = PrimaryLookup.byHosts.get(key) ?? new PrimaryLookup(urls);
    PrimaryLookup.byHosts.set(key, lookup);
    return lookup;
  }

  /** Asks all hosts at once, so that one that is silent delays nothing. @throws NoWritableHost */
  async address(): Promise<Address> {
    this.found ??= Promise.any(this.urls.map(probe));
    const requested = this.found;
    try {
      return await requested;
    } catch (error) {
      this.forget(requested);
      throw error instanceof AggregateError ? new NoWritableHost(error.errors) : error;
    }
  }

  /** After a connection to the address failed: the next one asks again. */
  async lost({ host, port }: Address): Promise<void> {
    const requested = this.found;
    const known = await requested?.catch(() => undefined);
    if (known?.host === host && known.port === port) this.forget(requested);
  }

  private forget(requested: Promise<Address> | undefined): void {
    if (this.found === requested) this.found = undefined;
  }
}

async function probe(url: string): Promise<Address> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // the query rejects
  try {
    await client.connect();
    await expectWritable(client);
    return { host: client.host, port: client.port };
  } catch (error) {
    throw Object.assign(new Error(`${client.host}:${client.port}: ${reasonOf(error)}`, { cause: error }), {
      code: codeOf(error),
    });
  } finally {
    void client.end().catch(() => undefined);
  }
}

/** Rejects on standbys, and with `default_transaction_read_only`. By a statement: poolers do not pass parameters on. */
async function expectWritable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'off') throw new Error('read-only');
}

type ConnectCallback = (error: Error | null, client: pg.Client) => void;

/**
 * A connection to the host of `connectionString` that accepts writes. With one host it is the driver's own client;
 * with several, each connection is made to the current primary, so that a failover needs no restart.
 */
export class DatabaseClient extends pg.Client {
  private readonly lookup: PrimaryLookup | undefined;

  constructor(config: pg.ClientConfig = {}) {
    const urls = config.connectionString === undefined ? [] : hostUrls(config.connectionString);
    super(urls[0] === undefined ? config : { ...config, connectionString: urls[0] });
    this.lookup = urls.length > 1 ? PrimaryLookup.of(urls) : undefined;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.Client> | void {
    const { lookup } = this;
    if (lookup === undefined) return callback === undefined ? super.connect() : super.connect(callback);
    if (callback === undefined) return this.connectToPrimary(lookup);
    callbackify(() => this.connectToPrimary(lookup))(callback);
  }

  private async connectToPrimary(lookup: PrimaryLookup): Promise<pg.Client> {
    const address = await lookup.address();
    Object.assign(this, address);
    this.on('error', () => undefined); // pools listen only once connected; queries reject
    try {
      await super.connect();
      // A former primary may have come back as a standby.
      await expectWritable(this);
      return this;
    } catch (error) {
      void lookup.lost(address);
      void this.end().catch(() => undefined);
      throw error;
    }
  }
}
