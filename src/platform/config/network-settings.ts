import { ValidateBy, type ValidationOptions } from 'class-validator';
import { accessSync, constants } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isIP } from 'node:net';

// Validators of network variables.

/** Network names that Fastify knows. */
const NAMED_NETWORKS = new Set(['loopback', 'linklocal', 'uniquelocal']);
/** A host, a suffix with or without `*`, or an address, each with an optional port; a network; or `*`. */
const WITHOUT_PROXY = /^(?:\*|(?:\*?\.)?[a-z\d_][a-z\d_.-]*(?::\d{1,5})?|\[[\da-f:.]+\](?::\d{1,5})?|[\da-f:.]+)$/i;

/** An address, or a network such as `10.0.0.0/8`; `/0` is rejected. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Proxies whose `X-Forwarded-*` is trusted: addresses, networks and network names. */
export const AreProxies = (): PropertyDecorator =>
  Each('areProxies', (entry) => NAMED_NETWORKS.has(entry) || isNetwork(entry), {
    message:
      'TRUSTED_PROXIES must be addresses or networks, separated by commas, such as 10.0.0.1,10.1.0.0/16; or loopback, linklocal, uniquelocal',
  });

/** Hosts reached without the proxy. */
export const AreWithoutProxy = (): PropertyDecorator =>
  Each('areWithoutProxy', (entry) => (entry.includes('/') ? isNetwork(entry) : WITHOUT_PROXY.test(entry)), {
    message:
      'NO_PROXY must be hosts, suffixes such as .example.com, addresses or networks, separated by commas, with an optional port; or *',
  });

/** A proxy URL: optional credentials, host and port, no path. */
export const IsProxyAddress = (): PropertyDecorator =>
  One('isProxyAddress', isProxyAddress, {
    message: 'HTTPS_PROXY must be an address such as http://proxy.example.com:3128, with http:// or https://',
  });

function isProxyAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && `${pathname}${search}${hash}` === '/';
}

/** Headers for the trace collector, validated at startup instead of on every export. */
export const AreCollectorHeaders = (): PropertyDecorator =>
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
export const IsReadableFile = (name: string): PropertyDecorator =>
  One('isReadableFile', isReadable, { message: `${name} must be a readable file` });

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const One = (name: string, isGood: (text: string) => boolean, options: ValidationOptions): PropertyDecorator =>
  ValidateBy({ name, validator: { validate: (value) => typeof value === 'string' && isGood(value) } }, options);

const Each = (name: string, isGood: (text: string) => boolean, options: ValidationOptions): PropertyDecorator =>
  One(name, isGood, { ...options, each: true });
