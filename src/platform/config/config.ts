import { Global, Injectable, Module } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { Clock, codeOf, reasonOf, Secret } from '../shared/index.js';
import { variableErrors } from '../settings/sections/index.js';
import { Environment, InvalidEnvironment } from './environment.js';

/** Also read in lower case, as other programs do. */
const ALSO_IN_LOWER_CASE = ['HTTPS_PROXY', 'NO_PROXY'];

/** The process configuration: read from the environment once, validated, frozen. Nothing else reads `process.env`. */
export class Config {
  readonly port: number;
  readonly host: string;
  /** The service's URL without a trailing slash; undefined: derived from HOST and PORT. */
  readonly publicUrl: string | undefined;
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined: embedded server. */
  readonly databaseUrl: Secret | undefined;
  /** Encryption and signing keys are derived from it. */
  readonly secretKey: Secret;
  readonly trustedProxies: readonly string[];
  /** Proxy for `https://` upstreams, including its password; undefined: direct. */
  readonly httpsProxy: Secret | undefined;
  /** Hosts, suffixes, addresses and networks reached without the proxy; `*` for all. */
  readonly noProxy: readonly string[];
  readonly logLevel: string;
  readonly logFormat: 'auto' | 'json' | 'text';
  readonly demo: 'auto' | 'on' | 'off';
  readonly shutdownGraceMs: number;
  /** Part of the grace period in which new calls are still accepted; 0: they are rejected at once. */
  readonly shutdownDelayMs: number;
  readonly maxBodyBytes: number;
  /** Max bytes of all request bodies in this process's memory; workers have equal shares. */
  readonly bodyMemoryBytes: number;
  /** Max bytes of all responses buffered for clients that share them, in this process. */
  readonly sharedMemoryBytes: number;
  /** Max concurrent calls of this process; workers have equal shares. */
  readonly maxCallsInFlight: number;
  /** Event loop delay above which new calls are rejected. */
  readonly maxEventLoopDelayMs: number;
  /** Store of rate limits for all hosts, including its password; undefined: in memory. */
  readonly redisUrl: Secret | undefined;
  /** Number of serving processes. */
  readonly workers: number;
  /** Bearer token for scraping `/metrics` remotely. */
  readonly metricsToken: Secret | undefined;
  /** Trace collector, without a trailing slash; undefined: tracing is off. */
  readonly otlpEndpoint: string | undefined;
  /** Headers for the collector: comma-separated `name=value`, values percent-encoded. */
  readonly otlpHeaders: Secret | undefined;
  readonly production: boolean;

  private constructor(
    environment: Environment,
    /** Reads a variable that overrides a setting, or that the catalog names as `env:NAME`; undefined if unset or empty. */
    readonly variable: (name: string) => string | undefined,
  ) {
    this.port = environment.PORT;
    this.host = environment.HOST;
    this.publicUrl = environment.PUBLIC_URL?.replace(/\/+$/, '');
    this.dataDir = resolve(environment.DATA_DIR);
    this.databaseUrl = secretOf(environment.DATABASE_URL);
    this.production = environment.NODE_ENV === 'production';
    this.secretKey = secretKeyFrom(environment, this.dataDir);
    this.trustedProxies = environment.TRUSTED_PROXIES;
    this.httpsProxy = secretOf(environment.HTTPS_PROXY);
    this.noProxy = environment.NO_PROXY.map((entry) => entry.toLowerCase());
    this.logLevel = environment.LOG_LEVEL;
    this.logFormat = environment.LOG_FORMAT;
    this.demo = environment.DEMO;
    this.shutdownGraceMs = environment.SHUTDOWN_GRACE_MS;
    this.shutdownDelayMs = environment.SHUTDOWN_DELAY_MS;
    this.workers = environment.WORKERS;
    this.bodyMemoryBytes = Math.floor((environment.BODY_MEMORY_BYTES ?? memoryLimit() / 4) / this.workers);
    // A body that can never fit must not get a retryable error.
    this.maxBodyBytes = Math.min(environment.MAX_BODY_BYTES, this.bodyMemoryBytes);
    this.sharedMemoryBytes = Math.floor(memoryLimit() / 16 / this.workers);
    this.maxCallsInFlight = Math.ceil((environment.MAX_CALLS_IN_FLIGHT ?? callsInMemory()) / this.workers);
    this.maxEventLoopDelayMs = environment.MAX_EVENT_LOOP_DELAY_MS;
    this.redisUrl = secretOf(environment.REDIS_URL);
    this.metricsToken = secretOf(environment.METRICS_TOKEN);
    this.otlpEndpoint = environment.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
    this.otlpHeaders = secretOf(environment.OTEL_EXPORTER_OTLP_HEADERS);
    Object.freeze(this);
  }

  /** @throws InvalidEnvironment */
  static load(): Config {
    return Config.fromEnvironment(process.env);
  }

  /**
   * An empty variable counts as unset, as shells and container files leave them.
   * @throws InvalidEnvironment naming each invalid variable
   */
  static fromEnvironment(variables: Readonly<Record<string, string | undefined>>): Config {
    const either = ALSO_IN_LOWER_CASE.map((name) => [name, variables[name] || variables[name.toLowerCase()]] as const);
    const set = Object.fromEntries(
      [...Object.entries(variables), ...either].filter(([, value]) => value !== undefined && value !== ''),
    );
    const environment = plainToInstance(Environment, set, { exposeDefaultValues: true });
    const errors = [
      ...validateSync(environment).flatMap((fault) => reasonsOf(fault.constraints)),
      ...variableErrors((name) => variables[name]),
    ];
    if (errors.length > 0) throw new InvalidEnvironment(`Invalid environment: ${errors.join('; ')}.`);
    return new Config(environment, (name) => variables[name] || undefined);
  }
}

/** A value that is not an integer also violates every bound; one reason is enough. */
const reasonsOf = ({ isInt, ...others }: Readonly<Record<string, string>> = {}): readonly string[] =>
  isInt === undefined ? Object.values(others) : [isInt];

const secretOf = (text: string | undefined): Secret | undefined => (text === undefined ? undefined : new Secret(text));

/**
 * Half of the memory at 1 MiB per call; bodies and shared responses have their own shares. A stream takes about 0.1 MiB, one
 * with a slow client 2 MiB, an unstreamed response up to 8 MiB briefly.
 */
const callsInMemory = (): number => Math.max(64, Math.floor(memoryLimit() / 2 / (1024 * 1024)));

/**
 * Bytes that this process may use: the container's limit (cgroup `memory.max`), or the machine's memory. Without a limit,
 * Node reports zero or more than the machine has. V8's heap limit does not matter: bodies are stored outside the heap.
 */
function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

const MIN_LENGTH = 32;

/**
 * SECRET_KEY, or the key generated into `DATA_DIR/secret.key` on the first run.
 * In production with an external database the key is required: a generated one would be lost with the machine, and
 * with it every stored credential.
 */
function secretKeyFrom(environment: Environment, dataDir: string): Secret {
  if (environment.SECRET_KEY !== undefined) return new Secret(environment.SECRET_KEY);
  if (environment.DATABASE_URL !== undefined && environment.NODE_ENV === 'production')
    throw new InvalidEnvironment('SECRET_KEY (32+ characters) is required in production when DATABASE_URL is set.');
  return new Secret(readOrCreate(join(dataDir, 'secret.key'), dataDir));
}

function readOrCreate(file: string, dataDir: string): string {
  const key = contentOf(file, dataDir);
  if (key.length < MIN_LENGTH)
    throw new InvalidEnvironment(
      `${file} contains no key of at least ${MIN_LENGTH} characters. Restore the previous key, or delete the file if nothing was stored yet.`,
    );
  return key;
}

/** @throws InvalidEnvironment when DATA_DIR is not writable: the key is the first file in it */
function contentOf(file: string, dataDir: string): string {
  try {
    mkdirSync(dataDir, { recursive: true });
    if (!existsSync(file)) create(file);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new InvalidEnvironment(
      `DATA_DIR (${dataDir}) must be a directory writable by this user: ${reasonOf(error)}.`,
    );
  }
}

/** Atomic: a key is never read half-written. Of two processes that start together, one wins. */
function create(file: string): void {
  const unfinished = `${file}.${process.pid}.tmp`;
  writeFileSync(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Hosts that listen on all interfaces; links to them use `localhost`. */
const ANY_HOST: readonly string[] = ['0.0.0.0', '::'];

/** The URL of this service. Never taken from a request, where clients control it. */
@Injectable()
export class BaseAddress {
  constructor(
    private readonly config: Config,
    private readonly adapter: HttpAdapterHost,
  ) {}

  /** PUBLIC_URL, else `http://HOST:PORT` with the actual port when PORT is 0. Without a trailing slash. */
  current(): string {
    const { publicUrl, host, port } = this.config;
    if (publicUrl !== undefined) return publicUrl;
    return `http://${hostName(host)}:${this.givenPort() ?? port}`;
  }

  /** Undefined when nothing listens, as on the command line. */
  private givenPort(): number | undefined {
    const adapter = this.adapter.httpAdapter as AbstractHttpAdapter<Server> | undefined;
    const address = adapter?.getHttpServer().address();
    return typeof address === 'object' ? address?.port : undefined;
  }
}

function hostName(host: string): string {
  if (ANY_HOST.includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

@Global()
@Module({
  providers: [{ provide: Config, useFactory: () => Config.load() }, BaseAddress, Clock],
  exports: [BaseAddress, Config, Clock],
})
export class ConfigModule {}
