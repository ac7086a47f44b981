/** Requests that nobody means, to every address there is. */

import fc from 'fast-check';
import { PROTOCOLS, PATHS } from '../protocols.js';
import type { ProtocolEndpoint } from '../scripted-upstream.js';
import { oddEscaped, oddHeaders } from './odd-values.js';
import { spoiledBodies } from './spoiled-bodies.js';

/** What a response must look like: an error of a protocol, one of whichever, or a page. */
export type Shape = ProtocolEndpoint | 'any protocol' | 'page';

export interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly chunked: boolean;
  readonly shape: Shape;
}

export interface FormTarget {
  readonly path: string;
  readonly fields: readonly string[];
}

const NO_BODY = fc.constant(Buffer.alloc(0));
const ABOUT_A_KEY = { method: fc.constantFrom('GET', 'GET', 'GET', 'DELETE', 'POST', 'PUT'), body: NO_BODY };

const fuzzed = (parts: {
  readonly method?: fc.Arbitrary<string>;
  readonly path: fc.Arbitrary<string>;
  readonly body?: fc.Arbitrary<Buffer>;
  readonly shape: Shape;
  readonly headers?: fc.Arbitrary<string[]>;
}): fc.Arbitrary<FuzzedRequest> =>
  fc.record({
    method: parts.method ?? fc.constant('POST'),
    path: parts.path,
    headers: parts.headers ?? oddHeaders,
    body: parts.body ?? NO_BODY,
    chunked: fc.boolean(),
    shape: fc.constant(parts.shape),
  });

const query = (...names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.constantFrom(...names, 'x'), oddEscaped), { maxLength: 3 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`));

const joined = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(''));

/** Calls of every protocol over every upstream, and questions about prompts. */
const calls = PROTOCOLS.flatMap((protocol) =>
  ['m', ...PROTOCOLS.map((upstream) => `over-${upstream}`)].map((model) =>
    fuzzed({ path: fc.constant(PATHS[protocol]), body: spoiledBodies(protocol, { model }), shape: protocol }),
  ),
);
const counts = [
  ['/v1/messages/count_tokens', 'messages'],
  ['/v1/responses/input_tokens', 'responses'],
] as const;
const questions = counts.map(([path, protocol]) =>
  fuzzed({ path: fc.constant(path), body: spoiledBodies(protocol, { model: 'm' }), shape: protocol }),
);

/** What a key's holder can ask for. */
const lookups = [
  fuzzed({
    ...ABOUT_A_KEY,
    path: joined(
      fc.constant('/v1/responses/'),
      oddEscaped,
      fc.constantFrom('', '/input_items', '/cancel', '/x'),
      query('after', 'limit', 'order', 'include', 'stream', 'starting_after'),
    ),
    shape: 'any protocol',
  }),
  fuzzed({
    ...ABOUT_A_KEY,
    path: joined(fc.constant('/v1/generations/'), oddEscaped, query('id')),
    shape: 'any protocol',
  }),
  fuzzed({
    ...ABOUT_A_KEY,
    path: joined(fc.constantFrom('/v1/models', '/v1/models/'), oddEscaped, query('limit', 'after_id', 'before_id')),
    shape: 'any protocol',
  }),
  fuzzed({ ...ABOUT_A_KEY, path: joined(fc.constant('/v1/key'), query('x')), shape: 'any protocol' }),
];

const PIECES = [
  '/',
  '//',
  '/v1',
  '/V1',
  '/chat/completions',
  '/messages',
  '/responses',
  '/models',
  '/key',
  '/..',
  '/.',
];
const ODD_PIECES = ['%2e%2e', '%2f', '%5c', '\\', ';x=1', ':80', '@', '*', '%00', '%', '%zz', '~', '?', '#', '.json'];
/** Addresses as nobody writes them, by every method. */
const strays = fuzzed({
  method: fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'),
  path: fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...ODD_PIECES)), { minLength: 1, maxLength: 6 })
    .map((pieces) => `/${pieces.join('')}`.replace(/^\/{2}(?!\/)/, '/')),
  body: fc.constantFrom(Buffer.from('{}'), Buffer.from('{"model":"m","messages":[]}'), Buffer.alloc(0)),
  shape: 'any protocol',
});

const PAGES = [
  '/',
  '/docs',
  '/pricing',
  '/keys',
  '/wallet',
  '/account',
  '/usage-logs/common',
  '/usage-logs/common.csv',
];
const MORE_PAGES = ['/sign-in', '/register', '/verify', '/verify/link', '/reset', '/forgot', '/keys/new', '/assets/x'];
const BELOW = ['/keys/', '/usage-logs/common/', '/pricing/', '/assets/', '/docs/', '/wallet/', '/account/'];
const ASKED = [
  'page',
  'from',
  'to',
  'before',
  'after',
  'key',
  'model',
  'status',
  'group',
  'q',
  'next',
  'search',
  'sort',
];
const MORE_ASKED = [
  'token',
  'code',
  'id',
  'days',
  'day',
  'month',
  'state',
  'protocol',
  'reason',
  'period',
  'range',
  'tab',
];
const pages = (headers: readonly string[]): fc.Arbitrary<FuzzedRequest> =>
  fuzzed({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD'),
    path: joined(
      fc.oneof(fc.constantFrom(...PAGES, ...MORE_PAGES), joined(fc.constantFrom(...BELOW), oddEscaped)),
      query(...ASKED, ...MORE_ASKED),
    ),
    headers: oddHeaders.map((odd) => [...headers, ...odd]),
    shape: 'page',
  });

const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Forms of pages, their token good most of the time, and their bodies of any form. */
const forms = (targets: readonly FormTarget[], browser: FuzzedBrowser): fc.Arbitrary<FuzzedRequest> =>
  fc.constantFrom(...targets).chain(({ path, fields }) => {
    const field = fc.tuple(fc.constantFrom(...fields, '_once', '__proto__', 'x'), oddEscaped);
    const good = fc.array(field, { maxLength: 5 }).map((pairs) => pairs.map(([name, value]) => `${name}=${value}`));
    const body = fc.oneof(
      { weight: 8, arbitrary: good.map((pairs) => [`_csrf=${encodeURIComponent(browser.csrf)}`, ...pairs].join('&')) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('{', '{"_csrf":1}', '&&&===', '_csrf', '_csrf=&_csrf=', `a=${'x'.repeat(70_000)}`),
      },
    );
    return fuzzed({
      path: joined(fc.constant(path), query('next')),
      body: body.map((text) => Buffer.from(text)),
      headers: fc
        .constantFrom(FORM_TYPE, FORM_TYPE, FORM_TYPE, 'application/json', 'multipart/form-data')
        .map((type) => [...browser.headers, 'content-type', type]),
      shape: 'page',
    });
  });

export interface FuzzedWorld {
  /** What a program shows. */
  readonly programHeaders: readonly string[];
  /** One that is signed in, and one that is not. */
  readonly browsers: readonly FuzzedBrowser[];
  readonly forms: readonly FormTarget[];
}

export interface FuzzedBrowser {
  readonly headers: readonly string[];
  /** What its forms carry. */
  readonly csrf: string;
}

/** All of it, what is asked of models most of all. */
export function fuzzedRequests(world: FuzzedWorld): fc.Arbitrary<FuzzedRequest> {
  const asProgram = (request: FuzzedRequest): FuzzedRequest => ({
    ...request,
    headers: [...world.programHeaders, ...request.headers],
  });
  return fc.oneof(
    { weight: 12, arbitrary: fc.oneof(...calls).map(asProgram) },
    { weight: 2, arbitrary: fc.oneof(...questions).map(asProgram) },
    { weight: 3, arbitrary: fc.oneof(...lookups).map(asProgram) },
    { weight: 3, arbitrary: strays.map(asProgram) },
    { weight: 3, arbitrary: fc.oneof(...world.browsers.map(({ headers }) => pages(headers))) },
    { weight: 2, arbitrary: fc.oneof(...world.browsers.map((browser) => forms(world.forms, browser))) },
  );
}
