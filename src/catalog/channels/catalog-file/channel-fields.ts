import { OWN_SECRETS } from '../../../platform/config/index.js';
import { isForbidden } from '../forbidden-addresses.js';
import { InvalidKeyFile, isKeyFile, readKeyFile } from '../service-account.js';
import { type Check, Field, isMapping, isName, Numeral, textOf } from './fields.js';

/** Set by the relay or specific to a connection: not allowed in channels. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(
  `connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade
   expect host content-length content-type content-encoding accept-encoding`.split(/\s+/),
);
/** Credentials are set through `auth`. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);
/** Headers with keys have a hyphen in their name; other words are mistakes. */
const CREDENTIAL_HEADER = /^[a-z0-9]+(?:-[a-z0-9]+)+$/;
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const SECRET = /^[\x21-\x7e]{1,4096}$/;
const VARIABLE = /^env:[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const FLAG_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

/** An http(s) URL without credentials, at an address where models may be served. */
export const BaseUrl = (): PropertyDecorator =>
  Field('isBaseUrl', (value) => {
    if (typeof value !== 'string' || !URL.canParse(value) || /\s/.test(value)) return ADDRESS;
    const { protocol, hostname, username, password, search, hash } = new URL(value);
    if (protocol !== 'http:' && protocol !== 'https:') return ADDRESS;
    if (isForbidden(hostname)) return NOWHERE;
    if (username !== '' || password !== '') return 'must not contain a user or password: use credentials';
    return search !== '' || hash !== '' || /[?#]/.test(value) ? 'must not contain "?" or "#": use query' : undefined;
  });
const ADDRESS = 'must start with http:// or https://';
const NOWHERE =
  'must not resolve to a link-local (169.254.169.254, fe80::1), metadata-service, unspecified (0.0.0.0) or multicast address';

/** `bearer`, `none`, or the name of the credential header. */
export const Auth = (): PropertyDecorator =>
  Field('isAuth', (value) => {
    if (value === 'bearer' || value === 'none') return undefined;
    if (typeof value !== 'string' || value.length > 100 || !CREDENTIAL_HEADER.test(value))
      return 'must be bearer, none, or the name of a header in lower case, such as x-api-key';
    return RESERVED_HEADERS.has(value) ? `must not be ${value}: the relay sets it` : undefined;
  });

/** Secrets, service account keys, `env:NAME` or `***`; never repeated in messages. */
export const Credentials = (): PropertyDecorator =>
  Field(
    'areCredentials',
    (value) => {
      if (!Array.isArray(value)) return 'must be a list';
      const odd = value.findIndex((text) => typeof text !== 'string' || !(SECRET.test(text) || isKeyFile(text)));
      if (odd >= 0) return `must be a list of secrets, env:NAME or "***"; entry ${odd + 1} is not`;
      const misnamed = value.findIndex((text: string) => text.startsWith('env:') && !VARIABLE.test(text));
      if (misnamed >= 0) return `must have a variable name after "env:"; entry ${misnamed + 1} does not`;
      const own = value.findIndex(
        (text: string) => text.startsWith('env:') && OWN_SECRETS.has(text.slice('env:'.length)),
      );
      if (own >= 0) return `must not name a secret of Switchboard itself; entry ${own + 1} does`;
      const [invalid] = value.flatMap((text: string, index) => keyFileError(text, index + 1) ?? []);
      return invalid;
    },
    // A key file is a mapping in YAML, too.
    (value) =>
      Array.isArray(value) ? value.map((one) => (isMapping(one) ? JSON.stringify(one) : textOf(one))) : value,
  );

function keyFileError(text: string, number: number): string | undefined {
  if (!isKeyFile(text)) return undefined;
  try {
    readKeyFile(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidKeyFile)) throw error;
    return `must have valid service account keys; entry ${number} ${error.reason}`;
  }
}

/** `{ public: upstream }`, `{ public: [upstream, …] }` or `[name, …]`, normalized to `{ public: [upstream, …] }`. */
export const ModelNames = (): PropertyDecorator =>
  Field(
    'areModelNames',
    (value) => {
      if (!isMapping(value)) return 'must be a list of names, or a mapping from public to upstream names';
      const entries = Object.entries(value);
      if (entries.length === 0) return 'must name at least one model';
      const misnamed = entries.find(([name]) => !isName(name));
      if (misnamed) return `must have model names without spaces or commas; ${JSON.stringify(misnamed[0])} is invalid`;
      const odd = entries.find(([, upstream]) => !(upstream as unknown[]).every(isUpstreamName));
      return odd && `must have one upstream name or a list of names per model; ${JSON.stringify(odd[0])} does not`;
    },
    upstreamNames,
  );

function upstreamNames(value: unknown): unknown {
  if (Array.isArray(value)) return Object.fromEntries(value.map((name) => [String(textOf(name)), [textOf(name)]]));
  if (!isMapping(value)) return value;
  const listOf = (upstream: unknown): unknown[] => (Array.isArray(upstream) ? upstream : [upstream]).map(textOf);
  const isEmpty = (upstream: unknown): boolean => Array.isArray(upstream) && upstream.length === 0;
  return Object.fromEntries(
    Object.entries(value).map(([name, upstream]) => [name, isEmpty(upstream) ? [undefined] : listOf(upstream)]),
  );
}

const isUpstreamName = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= 200 && !/\p{Cc}/u.test(value);

export const Query = (): PropertyDecorator =>
  Field('isQuery', (value) => errorIn(value, (name, text) => name !== '' && typeof text === 'string'), texts);

export const Headers = (): PropertyDecorator =>
  Field(
    'areHeaders',
    (value) => {
      if (!isMapping(value)) return 'must be a mapping from names to strings';
      const names = Object.keys(value).map((name) => name.toLowerCase());
      const reserved = names.find((name) => RESERVED_HEADERS.has(name) || CREDENTIAL_HEADERS.has(name));
      if (reserved !== undefined) return `must not set ${reserved}: the relay sets it`;
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined) return `must not set ${twice} twice`;
      return errorIn(
        value,
        (name, text) => HEADER_NAME.test(name) && typeof text === 'string' && HEADER_VALUE.test(text),
      );
    },
    texts,
  );

/** Any flags: adapters know their names, only the form is checked. Numbers become `number`. */
export const FlagMap = (): PropertyDecorator => Field('areFlags', flagError, flagValues);

/** The same, or a list of names and single-entry mappings: `[vision, thinkingMode: budget]`. */
export const FlagList = (): PropertyDecorator =>
  Field('areFlags', flagError, (value) => {
    if (!Array.isArray(value)) return flagValues(value);
    if (!value.every((entry) => typeof entry === 'string' || isMapping(entry))) return value;
    const pairs = value.flatMap((entry): [string, unknown][] =>
      typeof entry === 'string' ? [[entry, true]] : Object.entries(entry as object),
    );
    return flagValues(Object.fromEntries(pairs));
  });

function flagValues(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const whole = (flag: unknown): unknown =>
    flag instanceof Numeral && /^-?\d{1,15}$/.test(flag.source) ? Number(flag.source) : flag;
  const convert = (flag: unknown): unknown => (Array.isArray(flag) ? flag.map(textOf) : whole(flag));
  return Object.fromEntries(Object.entries(value).map(([name, flag]) => [name, convert(flag)]));
}

const flagError: Check = (value) => {
  if (!isMapping(value)) return 'must be a list of names or a mapping from names to values';
  const odd = Object.entries(value).find(([name, flag]) => !FLAG_NAME.test(name) || !isFlagValue(flag));
  return odd && `must be true, false, an integer, a string or a list of strings per name; ${odd[0]} is not`;
};

const isFlagValue = (flag: unknown): boolean =>
  ['boolean', 'number', 'string'].includes(typeof flag) ||
  (Array.isArray(flag) && flag.every((entry) => typeof entry === 'string'));

const texts = (value: unknown): unknown =>
  isMapping(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, textOf(text)])) : value;

function errorIn(value: unknown, isGood: (name: string, text: unknown) => boolean): string | undefined {
  if (!isMapping(value)) return 'must be a mapping from names to strings';
  const odd = Object.entries(value).find(([name, text]) => !isGood(name, text));
  return odd && `must map names to strings; ${odd[0]} is invalid`;
}
