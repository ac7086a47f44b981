import { Transform, Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  Min,
  Length,
  ValidateBy,
  type ValidationOptions,
} from 'class-validator';
import { accessSync, constants } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isIP } from 'node:net';
import { SECRET_VARIABLES } from '../settings/sections/index.js';

// Validators of network variables.

/** Network names that Fastify knows. */
const NAMED_NETWORKS = new Set(['loopback', 'linklocal', 'uniquelocal']);
/** A host, a suffix with or without `*`, or an address, each with an optional port; a network; or `*`. */
const WITHOUT_PROXY = /^(?:\*|(?:\*?\.)?[a-z\d_][a-z\d_.-]*(?::\d{1,5})?|\[[\da-f:.]+\](?::\d{1,5})?|[\da-f:.]+)$/i;

/** An address, or a network such as `10.0.0.0/8`; `/0` is rejected. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Proxies whose `X-Forwarded-*` is trusted: addresses, networks and network names. */
const AreProxies = (): PropertyDecorator =>
  Each('areProxies', (entry) => NAMED_NETWORKS.has(entry) || isNetwork(entry), {
    message:
      'TRUSTED_PROXIES must list IP addresses, networks, or loopback, linklocal and uniquelocal, separated by commas',
  });

/** Hosts reached without the proxy. */
const AreWithoutProxy = (): PropertyDecorator =>
  Each('areWithoutProxy', (entry) => (entry.includes('/') ? isNetwork(entry) : WITHOUT_PROXY.test(entry)), {
    message:
      'NO_PROXY must be * or list hosts, suffixes such as .example.com, addresses or networks, separated by commas, each with an optional port',
  });

/** A proxy URL: optional credentials, host and port, no path. */
const IsProxyAddress = (): PropertyDecorator =>
  One('isProxyAddress', isProxyAddress, {
    message: 'HTTPS_PROXY must be an address such as http://proxy.example.com:3128, with http:// or https://',
  });

function isProxyAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && `${pathname}${search}${hash}` === '/';
}

/** Headers for the trace collector, validated at startup instead of on every export. */
const AreCollectorHeaders = (): PropertyDecorator =>
  One('areCollectorHeaders', (text) => text.split(',').every(isHeader), {
    message: 'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs, separated by commas, values percent-encoded',
  });

function isHeader(pair: string): boolean {
  const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
  if (name === undefined || value === undefined) return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, decodeURIComponent(value.trim()));
    return true;
  } catch {
    return false;
  }
}

/** Node reads the file and only warns when it cannot. */
const IsReadableFile = (name: string): PropertyDecorator =>
  One('isReadableFile', isReadable, { message: `${name} must be a readable file` });

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The delay is part of the grace period. */
const IsWithinGrace = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isWithinGrace',
      validator: {
        validate: (value, context) =>
          context?.object instanceof Environment && Number(value) <= context.object.SHUTDOWN_GRACE_MS,
      },
    },
    { message: 'SHUTDOWN_DELAY_MS must not be greater than SHUTDOWN_GRACE_MS, of which it is a part' },
  );

const One = (name: string, isGood: (text: string) => boolean, options: ValidationOptions): PropertyDecorator =>
  ValidateBy({ name, validator: { validate: (value) => typeof value === 'string' && isGood(value) } }, options);

const Each = (name: string, isGood: (text: string) => boolean, options: ValidationOptions): PropertyDecorator =>
  One(name, isGood, { ...options, each: true });

const whole = (): PropertyDecorator => Type(() => Number);
const MIB = 1024 * 1024;

const list = (separator: string | RegExp = ','): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    String(value)
      .split(separator)
      .map((entry) => entry.trim())
      .filter(Boolean),
  );

const HTTP = { protocols: ['http', 'https'], require_protocol: true, require_tld: false };

/**
 * The environment variables, except for those that override a setting: these are declared with the setting. All are
 * listed in docs/configuration.md with their defaults.
 */
export class Environment {
  @whole()
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly PORT: number = 3000;

  @IsString()
  readonly HOST: string = '127.0.0.1';

  @IsOptional()
  @IsUrl(HTTP, { message: 'PUBLIC_URL must be an http:// or https:// URL' })
  readonly PUBLIC_URL?: string;

  @IsString()
  readonly DATA_DIR: string = './data';

  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//, { message: 'DATABASE_URL must start with postgres:// or postgresql://' })
  readonly DATABASE_URL?: string;

  @IsOptional()
  @Length(32, 512, { message: 'SECRET_KEY must have 32 to 512 characters' })
  readonly SECRET_KEY?: string;

  @list()
  @AreProxies()
  readonly TRUSTED_PROXIES: readonly string[] = [];

  @IsOptional()
  @IsProxyAddress()
  readonly HTTPS_PROXY?: string;

  @list(/[,\s]/)
  @AreWithoutProxy()
  readonly NO_PROXY: readonly string[] = [];

  @IsOptional()
  @IsReadableFile('NODE_EXTRA_CA_CERTS')
  readonly NODE_EXTRA_CA_CERTS?: string;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  readonly LOG_LEVEL: string = 'info';

  @IsIn(['auto', 'json', 'text'])
  readonly LOG_FORMAT: 'auto' | 'json' | 'text' = 'auto';

  @IsIn(['auto', 'on', 'off'])
  readonly DEMO: 'auto' | 'on' | 'off' = 'auto';

  @whole()
  @IsInt()
  @Min(0)
  @Max(3_600_000)
  readonly SHUTDOWN_GRACE_MS: number = 30_000;

  @whole()
  @IsInt()
  @Min(0)
  @IsWithinGrace()
  readonly SHUTDOWN_DELAY_MS: number = 0;

  @whole()
  @IsInt()
  @Min(1024)
  @Max(1024 * MIB)
  readonly MAX_BODY_BYTES: number = 64 * MIB;

  @IsOptional()
  @whole()
  @IsInt()
  @Min(1024)
  readonly BODY_MEMORY_BYTES?: number;

  @IsOptional()
  @whole()
  @IsInt()
  @Min(1)
  readonly MAX_CALLS_IN_FLIGHT?: number;

  @whole()
  @IsInt()
  @Min(10)
  @Max(60_000)
  readonly MAX_EVENT_LOOP_DELAY_MS: number = 1000;

  @IsOptional()
  @Matches(/^rediss?:\/\//, { message: 'REDIS_URL must start with redis:// or rediss://' })
  readonly REDIS_URL?: string;

  @whole()
  @IsInt()
  @Min(1)
  @Max(64)
  readonly WORKERS: number = 1;

  @IsOptional()
  @Length(16, 512, { message: 'METRICS_TOKEN must have 16 to 512 characters' })
  readonly METRICS_TOKEN?: string;

  @IsOptional()
  @IsUrl(HTTP, { message: 'OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL' })
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @IsOptional()
  @AreCollectorHeaders()
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string;

  @IsOptional()
  @IsIn(['development', 'production', 'test'])
  readonly NODE_ENV?: string;
}

/** Invalid environment variables. The message names each of them; it is printed without a stack. */
export class InvalidEnvironment extends Error {
  override readonly name = 'InvalidEnvironment';
}

/**
 * Variables with secrets of this program or of its connections. They are rejected wherever a variable can be named, so
 * that they are never sent to an upstream.
 */
export const OWN_SECRETS: ReadonlySet<string> = new Set([
  ...SECRET_VARIABLES,
  'SECRET_KEY',
  'DATABASE_URL',
  'PGPASSWORD', // used when DATABASE_URL has no password
  'REDIS_URL',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'HTTPS_PROXY',
  'https_proxy',
]);
