import { ModulesContainer } from '@nestjs/core';
import { type openApiDocument, type Operation, type Schema } from '../../src/home/docs/openapi/index.js';
import { aRequest, DIALECTS, PATHS } from '../support/dialects.js';
import { schemaFaults } from '../support/json-schema.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

type Document = ReturnType<typeof openApiDocument>;

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'ALL', 'OPTIONS', 'HEAD'];
/** Addresses that are understood beside those that are described: what a client posts to the bare base address. */
const UNDESCRIBED = ['POST /v1'];

/** `GET /v1/models/{id}` for every handler of the API, by what Nest has written on it. */
function apiRoutes(relay: RelayApp): string[] {
  const told = (key: string, target: object): unknown => Reflect.getMetadata(key, target) as unknown;
  const controllers = [...relay.get(ModulesContainer).values()].flatMap(({ controllers: all }) =>
    [...all.values()].map(({ metatype }) => metatype as { prototype: Record<string, unknown> }),
  );
  const routes = controllers.flatMap((controller) =>
    Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
      const handler = name === 'constructor' ? undefined : controller.prototype[name];
      if (typeof handler !== 'function' || told('path', handler) === undefined) return [];
      const parts = [told('path', controller), told('path', handler)].map((part) =>
        String(part).replaceAll(/^\/|\/$/g, ''),
      );
      const path = `/${parts.filter(Boolean).join('/')}`.replace(/\*$/, '{id}');
      return [`${METHODS[told('method', handler) as number] ?? '?'} ${path}`];
    }),
  );
  return [...new Set(routes)].filter((route) => / \/v1(\/|$)/.test(route) && !UNDESCRIBED.includes(route));
}

describe('the documentation', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let document: Document;
  let page: string;

  beforeAll(async () => {
    relay = await RelayApp.start({}, { PUBLIC_URL: 'http://relay.example', SUPPORT_CONTACT: 'operator@example.com' });
    caller = await relay.caller();
    const answer = await fetch(`${relay.url}/docs/openapi.json`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    document = (await answer.json()) as Document;
    page = (await new PageVisitor(relay.url).get('/docs')).text;
  });
  afterAll(() => relay.close());

  const operations = (): [route: string, operation: Operation][] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );
  const answerOf = (route: string, status: string): Schema => {
    const operation = operations().find(([name]) => name === route)?.[1];
    const schema = operation?.responses[status]?.content['application/json']?.schema;
    if (schema === undefined) throw new Error(`Nothing is said of ${status} at ${route}.`);
    return schema;
  };
  const faults = async (route: string, response: Response): Promise<string[]> =>
    schemaFaults(await response.json(), answerOf(route, String(response.status)), document.components.schemas);
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${relay.url}${path}`, { headers: { authorization: `Bearer ${caller.key}`, ...headers } });

  it('describes every address of the API, and no other', () => {
    expect(
      operations()
        .map(([route]) => route)
        .toSorted(),
    ).toEqual(apiRoutes(relay).toSorted());
  });

  it('names the address of this service, whoever asks by what host', () => {
    expect(document.servers).toEqual([{ url: 'http://relay.example' }]);
    expect(page).toContain('<code id="base-0">http://relay.example/v1</code>');
    expect(page).toContain('<code id="base-2">http://relay.example</code>');
  });

  it('describes what a key and a list of models look like', async () => {
    expect(await faults('GET /v1/key', await get('/v1/key'))).toEqual([]);
    expect(await faults('GET /v1/models', await get('/v1/models'))).toEqual([]);
    expect(await faults('GET /v1/models', await get('/v1/models', { 'anthropic-version': '2023-06-01' }))).toEqual([]);
    expect(await faults('GET /v1/models/{id}', await get('/v1/models/m'))).toEqual([]);
  });

  it.each(DIALECTS)('describes what became of a call, and its errors, in %s', async (dialect) => {
    const route = `POST ${PATHS[dialect]}`;
    const call = await relay.post(PATHS[dialect], caller.key, aRequest(dialect));
    expect(await faults(route, call)).toEqual([]);
    const id = call.headers.get('x-request-id') ?? '';
    expect(await faults('GET /v1/generations/{id}', await get(`/v1/generations/${id}`))).toEqual([]);
    const poor = await relay.caller({ credit: '0' });
    const refusals = [
      await relay.post(PATHS[dialect], 'sk-nobody', aRequest(dialect)),
      await relay.post(PATHS[dialect], caller.key, '{'),
      await relay.post(PATHS[dialect], caller.key, aRequest(dialect, { model: 'nothing' })),
      await relay.post(PATHS[dialect], poor.key, aRequest(dialect)),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([401, 400, 404, dialect === 'messages' ? 402 : 429]);
    for (const refusal of refusals) expect(await faults(route, refusal)).toEqual([]);
  });

  it('describes a refusal where nothing is called', async () => {
    for (const path of ['/v1/models/nothing', '/v1/generations/req_x'])
      expect(await faults(`GET ${path.replace(/[^/]+$/, '{id}')}`, await get(path))).toEqual([]);
  });

  it('would see an answer that is not as described', () => {
    const key = answerOf('GET /v1/key', '200');
    const check = (value: object): string[] => schemaFaults(value, key, document.components.schemas);
    expect(check({ object: 'key' })).toContain('$.wallet is missing');
    expect(check({ object: 'door' })).toContain('$.object: door is not key');
    expect(check({ more: 1 })).toContain('$.more is not described');
    expect(check({ name: 1 })).toContain('$.name: integer is not string');
  });

  it('shows the same on its page, and each of the three errors with what to check', () => {
    const text = page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    for (const [route, { summary }] of operations()) {
      expect(text).toContain(route.split(' ')[1]);
      expect(text).toContain(summary);
    }
    for (const error of ['Invalid token', 'insufficient quota', 'context canceled']) expect(text).toContain(error);
    expect(text).toContain('quota_left_usd');
    expect(page).toContain('mailto:operator@example.com');
  });

  it('leads only to parts of its page that are there', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.length).toBeGreaterThan(5);
    for (const id of targets) expect(page).toContain(`id="${id}"`);
  });
});
