import { ModulesContainer } from '@nestjs/core';
import { WARNING_MEANINGS } from '../../src/protocols/contract/index.js';
import { type openApiDocument, type Operation, type Schema } from '../../src/console/home/docs/openapi/index.js';
import { WARNINGS } from '../../src/console/home/docs/errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { schemaErrors } from '../support/json-schema.js';
import { jsonAnswer } from '../support/scripted-upstream.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

type Document = ReturnType<typeof openApiDocument>;

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'ALL', 'OPTIONS', 'HEAD'];
/** Beside those that are described: the bare base URL. */
const UNDESCRIBED = ['POST /v1'];

/** `GET /v1/models/*` for every handler of the API, by what Nest has written on it. */
function apiRoutes(relay: RelayApp): string[] {
  const reported = (key: string, target: object): unknown => Reflect.getMetadata(key, target) as unknown;
  const controllers = [...relay.get(ModulesContainer).values()].flatMap(({ controllers: all }) =>
    [...all.values()].map(({ metatype }) => metatype as { prototype: Record<string, unknown> }),
  );
  const routes = controllers.flatMap((controller) =>
    Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
      const handler = name === 'constructor' ? undefined : controller.prototype[name];
      if (typeof handler !== 'function' || reported('path', handler) === undefined) return [];
      return [reported('path', handler)].flat().map((path) => {
        const parts = [reported('path', controller), path].map((part) =>
          String(part)
            .replaceAll(/^\/|\/$/g, '')
            .replace(/:(id|model)(?:\(.*\))?/, '{$1}')
            .replace(':itemId', '{itemId}')
            .replace('::', ':'),
        );
        return `${METHODS[reported('method', handler) as number] ?? '?'} /${parts.filter(Boolean).join('/')}`;
      });
    }),
  );
  return [...new Set(routes)].filter((route) => / \/v1(?:beta)?(\/|$)/.test(route) && !UNDESCRIBED.includes(route));
}

/** Whether a handler answers at an address: `GET /v1/models/{id}`. A wildcard stands for anything that is not empty. */
const responses = (route: string, address: string): boolean =>
  route.endsWith('*') ? address.startsWith(route.slice(0, -1)) : address === route;

/** All pages that the index of the first one lists. */
async function docsPages(url: string): Promise<ReadonlyMap<string, string>> {
  const visitor = new PageVisitor(url);
  const { text } = await visitor.get('/docs');
  const addresses = new Set([...text.matchAll(/href="(\/docs(?:\/[\w-]+)?)"/g)].map(([, address = '']) => address));
  const pages = [...addresses].map(async (address) => [address, (await visitor.get(address)).text] as const);
  return new Map(await Promise.all(pages));
}

/** IDs of the sections that `/docs` had as a single page. */
const FORMER_SECTIONS = [
  'addresses',
  'any-client',
  'clients',
  'losses',
  'warnings',
  'invalid-token',
  'insufficient-quota',
  'context-canceled',
  'statuses',
  'slow',
  'dear',
  'limits',
  'endings',
  'reference',
  'createResponse',
  'getKey',
];

describe('the documentation', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let document: Document;
  /** HTML by address. */
  let pages: ReadonlyMap<string, string>;

  beforeAll(async () => {
    relay = await RelayApp.start({}, { PUBLIC_URL: 'http://relay.example', SUPPORT_CONTACT: 'operator@example.com' });
    caller = await relay.caller();
    const response = await fetch(`${relay.url}/docs/openapi.json`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    document = (await response.json()) as Document;
    pages = await docsPages(relay.url);
  });
  afterAll(() => relay.close());

  const operations = (): [route: string, operation: Operation][] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );
  const responseOf = (route: string, status: string): Schema => {
    const operation = operations().find(([name]) => name === route)?.[1];
    const schema = operation?.responses[status]?.content?.['application/json']?.schema;
    if (schema === undefined) throw new Error(`Nothing is said of ${status} at ${route}.`);
    return schema;
  };
  const faults = async (route: string, response: Response): Promise<string[]> =>
    schemaErrors(await response.json(), responseOf(route, String(response.status)), document.components.schemas);
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${relay.url}${path}`, { headers: { authorization: `Bearer ${caller.key}`, ...headers } });

  it('describes every address of the API, and no other', () => {
    const [described, routes] = [operations().map(([route]) => route), apiRoutes(relay)];
    expect(described.filter((address) => !routes.some((route) => responses(route, address)))).toEqual([]);
    expect(routes.filter((route) => !described.some((address) => responses(route, address)))).toEqual([]);
  });

  it('contains the configured address of the service, whatever the Host header says', () => {
    expect(document.servers).toEqual([{ url: 'http://relay.example' }]);
    const clients = pages.get('/docs/clients');
    expect(clients).toContain('<code id="base-0">http://relay.example/v1</code>');
    expect(clients).toContain('<code id="base-2">http://relay.example</code>');
  });

  it('describes what a key and a list of models look like', async () => {
    expect(await faults('GET /v1/key', await get('/v1/key'))).toEqual([]);
    expect(await faults('GET /v1/models', await get('/v1/models'))).toEqual([]);
    expect(await faults('GET /v1/models', await get('/v1/models', { 'anthropic-version': '2023-06-01' }))).toEqual([]);
    expect(await faults('GET /v1/models/{id}', await get('/v1/models/m'))).toEqual([]);
  });

  it('describes calls, counts, models and errors of Gemini', async () => {
    await relay.applyCatalog(`
models:
  - { name: gemini, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
  - { name: gemini, protocol: gemini, base_url: "${relay.upstream.url}", credentials: [x], models: [gemini] }
`);
    const body = { contents: [{ parts: [{ text: 'Hello' }] }] };
    const ask = (method: string, key = caller.key): Promise<Response> =>
      relay.post(`/v1beta/models/gemini:${method}`, key, body);
    const route = 'POST /v1beta/models/{model}:generateContent';
    for (const response of [await ask('generateContent'), await ask('generateContent', 'sk-nobody')])
      expect(await faults(route, response)).toEqual([]);
    relay.upstream.script(jsonAnswer(200, { totalTokens: 3, extra: true }));
    expect(await faults('POST /v1beta/models/{model}:countTokens', await ask('countTokens'))).toEqual([]);
    expect(await faults('GET /v1beta/models', await get('/v1beta/models?pageSize=2'))).toEqual([]);
    for (const name of ['gemini', 'nothing'])
      expect(await faults('GET /v1beta/models/{id}', await get(`/v1beta/models/${name}`))).toEqual([]);
  });

  it.each(PROTOCOLS)('describes what became of a call, and its errors, in %s', async (protocol) => {
    const route = `POST ${PATHS[protocol]}`;
    const call = await relay.post(PATHS[protocol], caller.key, aRequest(protocol));
    expect(await faults(route, call)).toEqual([]);
    const id = call.headers.get('x-request-id') ?? '';
    expect(await faults('GET /v1/generations/{id}', await get(`/v1/generations/${id}`))).toEqual([]);
    const poor = await relay.caller({ credit: '0' });
    const refusals = [
      await relay.post(PATHS[protocol], 'sk-nobody', aRequest(protocol)),
      await relay.post(PATHS[protocol], caller.key, '{'),
      await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model: 'nothing' })),
      await relay.post(PATHS[protocol], poor.key, aRequest(protocol)),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([401, 400, 404, protocol === 'messages' ? 402 : 429]);
    for (const refusal of refusals) expect(await faults(route, refusal)).toEqual([]);
  });

  it('describes a count, as an upstream gives it and as it is made here', async () => {
    const messages = [{ role: 'user', content: 'hello' }];
    const count = (path: string, body: object): Promise<Response> => relay.post(path, caller.key, body);
    for (const model of ['m', 'only-chat']) {
      const inMessages = await count('/v1/messages/count_tokens', { model, messages });
      expect([inMessages.status, await faults('POST /v1/messages/count_tokens', inMessages)]).toEqual([200, []]);
      const inResponses = await count('/v1/responses/input_tokens', { model, input: 'hello' });
      expect([inResponses.status, await faults('POST /v1/responses/input_tokens', inResponses)]).toEqual([200, []]);
    }
  });

  it('describes a refusal where nothing is called', async () => {
    for (const path of ['/v1/models/nothing', '/v1/generations/req_x', '/v1/responses/resp_x'])
      expect(await faults(`GET ${path.replace(/[^/]+$/, '{id}')}`, await get(path))).toEqual([]);
  });

  it('would see a response that is not as described', () => {
    const key = responseOf('GET /v1/key', '200');
    const check = (value: object): string[] => schemaErrors(value, key, document.components.schemas);
    expect(check({ object: 'key' })).toContain('$.wallet is missing');
    expect(check({ object: 'door' })).toContain('$.object: door is not key');
    expect(check({ more: 1 })).toContain('$.more is not described');
    expect(check({ name: 1 })).toContain('$.name: integer is not string');
  });

  it('shows the same on its pages, and each of the three errors with what to check', () => {
    const html = [...pages.values()].join('\n');
    const text = html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    for (const [route, { summary }] of operations()) {
      expect(text).toContain(route.split(' ')[1]);
      expect(text).toContain(summary);
    }
    for (const error of ['Invalid token', 'insufficient quota', 'context canceled']) expect(text).toContain(error);
    for (const error of ['model_not_found', 'previous_response_not_found']) expect(text).toContain(error);
    expect(text).toContain('quota_left_usd');
    for (const thing of WARNINGS.flatMap(({ things }) => things)) expect(text).toContain(thing);
    for (const warning of Object.entries(WARNING_MEANINGS)) expect(text).toContain(warning.join(' '));
    expect(text).toContain('http://relay.example/v1&quot;');
    expect(html).toContain('mailto:operator@example.com');
  });

  it('links only to sections of its pages that exist', () => {
    const links = [...pages].flatMap(([address, html]) =>
      [...html.matchAll(/href="(\/docs[\w/-]*)?#([^"]+)"/g)].map(([, to = address, id]) => ({ to, id })),
    );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter(({ to, id }) => !pages.get(to)?.includes(`id="${id}"`))).toEqual([]);
  });

  it('leads links to sections of the former single page to their new place', () => {
    const first = pages.get('/docs') ?? '';
    for (const id of FORMER_SECTIONS) expect(first).toContain(`id="${id}"`);
  });

  it('has no page and no results for what it does not know', async () => {
    const visitor = new PageVisitor(relay.url);
    expect((await visitor.get('/docs/nothing')).status).toBe(404);
    expect((await visitor.get('/docs?q=xyzzy')).text).toContain('No section contains all of these words.');
  });

  it('finds sections that contain all words, and shows them without markup', async () => {
    const visitor = new PageVisitor(relay.url);
    const { text } = await visitor.get('/docs?q=quota+raise');
    expect(text).toContain('<a href="/docs/errors#insufficient-quota">insufficient quota</a>');
    expect(text).not.toContain('#context-canceled');
    expect((await visitor.get('/docs?q=%22%3Cb%3E')).text).not.toContain('<b>');
  });

  it('describes each page to search engines', () => {
    const descriptions = [...pages.values()].map(
      (html) => /<meta name="description" content="([^"]+)">/.exec(html)?.[1],
    );
    expect(descriptions).not.toContain(undefined);
    expect(new Set(descriptions).size).toBe(pages.size);
  });

  it('starts with steps of at most ten lines each', () => {
    const samples = [...(pages.get('/docs') ?? '').matchAll(/<pre[^>]*><code>([^]*?)<\/code>/g)];
    expect(samples.length).toBeGreaterThan(6);
    const lines = samples.map(
      ([, code = '']) =>
        code
          .replaceAll(/<[^>]+>/g, '')
          .trim()
          .split('\n').length,
    );
    expect(lines.filter((count) => count > 10)).toEqual([]);
  });
});
