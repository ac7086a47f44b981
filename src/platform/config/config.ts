import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { resolve } from 'node:path';
import { type Nanos, parseUsd, Secret } from '../shared/index.js';
import { Environment } from './environment.js';
import { InvalidEnvironment } from './invalid-environment.js';
import { memoryLimit } from './memory-limit.js';
import { secretKeyFrom } from './secret-key.js';

/** Other programs write these in lower case too, some only so. */
const ALSO_IN_LOWER_CASE = ['HTTPS_PROXY', 'NO_PROXY'];

/** The settings of this process: read from the environment once, checked, frozen. `process.env` appears nowhere else. */
export class Config {
  readonly port: number;
  readonly host: string;
  /** Where people reach the service, without a trailing slash; undefined when nothing but HOST and PORT says it. */
  readonly publicUrl: string | undefined;
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined: the embedded server. */
  readonly databaseUrl: Secret | undefined;
  /** What everything that is encrypted or signed is derived from. */
  readonly secretKey: Secret;
  readonly trustedProxies: readonly string[];
  /** What upstreams of https:// are reached through; undefined: nothing. Has the password, if there is one. */
  readonly httpsProxy: Secret | undefined;
  /** Hosts, suffixes, addresses and networks, with or without a port, that are reached directly; `*` for all. */
  readonly noProxy: readonly string[];
  readonly logLevel: string;
  readonly demo: 'auto' | 'on' | 'off';
  /** Who may make an account: anybody, whoever has an invitation, nobody. */
  readonly signUp: 'open' | 'invite' | 'closed';
  /** The only domains whose addresses may sign up, in lower case; none: all. */
  readonly signUpDomains: readonly string[];
  /** What a new account is given once its address is verified. */
  readonly startingCredit: Nanos;
  /** After how long without a visit a browser is signed out; undefined: nothing in the environment says so. */
  readonly sessionIdleHours: number | undefined;
  /** Undefined: mail goes to the outbox folder. Has the password, if there is one. */
  readonly smtpUrl: Secret | undefined;
  readonly mailFrom: string;
  /** An address of mail or of a page where people find help. */
  readonly supportContact: string | undefined;
  /** What the payment provider knows us by; undefined: nothing in the environment says so. */
  readonly stripeSecretKey: Secret | undefined;
  /** What the payment provider signs its events with. */
  readonly stripeWebhookSecret: Secret | undefined;
  /** Whole months of calls that are kept beside the current one; undefined: nothing in the environment says so. */
  readonly callsRetentionMonths: number | undefined;
  readonly shutdownGraceMs: number;
  readonly maxBodyBytes: number;
  /** What all bodies in this process's memory may take together: workers have equal shares. */
  readonly bodyMemoryBytes: number;
  /** What is kept of all answers for the clients that share them may take together, in this process. */
  readonly sharedMemoryBytes: number;
  /** So many calls this process answers at a time: workers have equal shares. */
  readonly maxCallsInFlight: number;
  /** A process that is later than that over everything takes no calls. */
  readonly maxEventLoopDelayMs: number;
  /** What rate limits are counted in for all hosts; undefined: in this one's memory. Has the password, if there is one. */
  readonly redisUrl: Secret | undefined;
  /** How many processes serve. */
  readonly workers: number;
  /** Whoever shows it may read `/metrics` from elsewhere. */
  readonly metricsToken: Secret | undefined;
  /** Where traces go, without a trailing slash; undefined: nowhere. */
  readonly otlpEndpoint: string | undefined;
  /** What the collector wants to be shown: `name=value` with commas, values percent-encoded. */
  readonly otlpHeaders: Secret | undefined;
  readonly production: boolean;

  private constructor(
    environment: Environment,
    /** A variable that the catalog file names as `env:NAME`; undefined when unset or empty. */
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
    this.demo = environment.DEMO;
    this.signUp = environment.SIGN_UP;
    this.signUpDomains = environment.SIGN_UP_DOMAINS.map((domain) => domain.toLowerCase());
    this.startingCredit = parseUsd(environment.STARTING_CREDIT);
    this.sessionIdleHours = environment.SESSION_IDLE_HOURS;
    this.smtpUrl = secretOf(environment.SMTP_URL);
    this.mailFrom = environment.MAIL_FROM;
    this.supportContact = environment.SUPPORT_CONTACT;
    this.stripeSecretKey = secretOf(environment.STRIPE_SECRET_KEY);
    this.stripeWebhookSecret = secretOf(environment.STRIPE_WEBHOOK_SECRET);
    this.callsRetentionMonths = environment.CALLS_RETENTION_MONTHS;
    this.shutdownGraceMs = environment.SHUTDOWN_GRACE_MS;
    this.workers = environment.WORKERS;
    this.bodyMemoryBytes = Math.floor((environment.BODY_MEMORY_BYTES ?? memoryLimit() / 4) / this.workers);
    // One that can never fit must not be told to come again.
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

  /** The settings of this process. @throws InvalidEnvironment */
  static load(): Config {
    return Config.fromEnvironment(process.env);
  }

  /**
   * A variable that is set to nothing counts as not set, as shells and container files leave them.
   * @throws InvalidEnvironment naming each variable that is wrong
   */
  static fromEnvironment(variables: Readonly<Record<string, string | undefined>>): Config {
    const either = ALSO_IN_LOWER_CASE.map((name) => [name, variables[name] || variables[name.toLowerCase()]] as const);
    const set = Object.fromEntries(
      [...Object.entries(variables), ...either].filter(([, value]) => value !== undefined && value !== ''),
    );
    const environment = plainToInstance(Environment, set, { exposeDefaultValues: true });
    const faults = validateSync(environment).flatMap((fault) => reasonsOf(fault.constraints));
    if (faults.length > 0) throw new InvalidEnvironment(`Invalid environment: ${faults.join('; ')}.`);
    return new Config(environment, (name) => variables[name] || undefined);
  }
}

/** What is no whole number is beyond every bound as well, and one reason is enough. */
const reasonsOf = ({ isInt, ...others }: Readonly<Record<string, string>> = {}): readonly string[] =>
  isInt === undefined ? Object.values(others) : [isInt];

const secretOf = (text: string | undefined): Secret | undefined => (text === undefined ? undefined : new Secret(text));

/**
 * Half of the memory at 1 MiB a call: bodies and shared answers have shares of their own. A stream takes a tenth of it,
 * one whose client reads slowly two times as much, an unstreamed answer up to 8 MiB for the moment that it lasts.
 */
const callsInMemory = (): number => Math.max(64, Math.floor(memoryLimit() / 2 / (1024 * 1024)));
