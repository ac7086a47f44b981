import { type ArgumentsHost, Catch, Controller, type ExceptionFilter, Get, Post, Req, UseGuards } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AccountStatus, AuthModule } from '../../src/auth/index.js';
import { ApiKeyGuard, ApiKeyService, type Caller, KeysModule, RefusedKey } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { AppError } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { compileOn } from '../support/modules.js';

@Controller('caller')
@UseGuards(ApiKeyGuard)
class CallerController {
  @Get()
  get(@Req() request: { readonly user: Caller }): Record<string, unknown> {
    return { key: request.user.keyId };
  }

  @Post()
  post(@Req() request: { readonly user: Caller }): Record<string, unknown> {
    return { key: request.user.keyId };
  }
}

/** Shows what was thrown, so that the test can look at it. */
@Catch()
class ShowingFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const error = AppError.from(thrown);
    const refused = error instanceof RefusedKey ? error.caller.keyId : null;
    void host
      .switchToHttp()
      .getResponse<FastifyReply>()
      .status(401)
      .send({ kind: error.kind, message: error.message, refused });
  }
}

interface UpstreamResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

describe('the API key guard', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;
  let keys: ApiKeyService;
  let accountId: string;
  let good: { id: string; secret: string };
  let other: { id: string; secret: string };

  const newKey = async (name: string, expiresAt?: Date) => {
    const { id, secret } = await keys.create({ accountId, name, expiresAt });
    return { id, secret: secret.reveal() };
  };

  /** Over a real socket, because headers that are sent twice exist only there. */
  const ask = (
    headers: readonly string[],
    options: { method?: string; path?: string; body?: string } = {},
  ): Promise<UpstreamResponse> =>
    new Promise((resolve, reject) => {
      const { port } = app.getHttpServer().address() as AddressInfo;
      const { method = 'GET', path = '/caller', body } = options;
      const sent = httpRequest(
        { port, host: '127.0.0.1', method, path, headers: ['host', 'relay', ...headers] },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as UpstreamResponse['body'] }),
          );
        },
      );
      sent.on('error', reject).end(body);
    });

  beforeAll(async () => {
    database = await freshDatabase();
    const modules = await compileOn(database, {
      imports: [AuthModule, KeysModule, OnboardingModule],
      controllers: [CallerController],
    });
    app = modules.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
    app.useGlobalFilters(new ShowingFilter());
    await app.listen(0, '127.0.0.1');
    keys = app.get(ApiKeyService);
    ({ id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' }));
    good = await newKey('good');
    other = await newKey('other');
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it.each([
    ['authorization', 'Bearer '],
    ['authorization', 'bearer '],
    ['x-api-key', ''],
    ['api-key', ''],
  ])('lets a key in %s: %s… pass and puts its caller on the request', async (header, prefix) => {
    await expect(ask([header, `${prefix}${good.secret}`])).resolves.toEqual({ status: 200, body: { key: good.id } });
  });

  it('never takes a key from the query or the body', async () => {
    const inQuery = await ask([], { path: `/caller?access_token=${good.secret}` });
    const inBody = await ask(['content-type', 'application/json', 'content-length', String(good.secret.length + 19)], {
      method: 'POST',
      body: JSON.stringify({ access_token: good.secret }),
    });
    for (const response of [inQuery, inBody])
      expect(response).toMatchObject({
        status: 401,
        body: { message: expect.stringContaining('Invalid token: missing API key') as string },
      });
  });

  it.each([
    [['authorization', 'Bearer'], 'no API key after "Bearer"'],
    [['authorization', 'Basic abc'], 'scheme is Basic'],
    [['authorization', 'sk-alone'], 'has no "Bearer" before the key'],
    [['authorization', 'Bearer  sk-x'], 'more than one space'],
    [['authorization', 'Bearer sk-x', 'Authorization', 'Bearer sk-y'], 'duplicate Authorization header'],
    [['authorization', 'Bearer sk-nobody'], 'unknown API key'],
    [['x-api-key', 'sk-nobody'], 'unknown API key'],
    [[], 'missing API key'],
  ])('answers %j with an Invalid token that names the fault', async (headers, fault) => {
    const { status, body } = await ask(headers);
    expect(status).toBe(401);
    expect(body).toMatchObject({
      kind: 'invalid_token',
      message: expect.stringMatching(/^Invalid token: /) as string,
      refused: null,
    });
    expect(body['message']).toContain(fault);
  });

  it('uses the first carrier whose key we issued', async () => {
    const both = await ask(['authorization', `Bearer ${good.secret}`, 'x-api-key', other.secret]);
    const second = await ask(['authorization', 'Bearer sk-of-another-service', 'x-api-key', other.secret]);
    const last = await ask(['authorization', 'Bearer', 'x-api-key', 'sk-nobody', 'api-key', other.secret]);
    expect([both, second, last].map(({ body }) => body['key'])).toEqual([good.id, other.id, other.id]);
  });

  it('counts a disabled key as issued: it is refused even beside a good one', async () => {
    const disabled = await newKey('disabled');
    await keys.disable(disabled.id);
    const { body } = await ask(['authorization', `Bearer ${disabled.secret}`, 'x-api-key', good.secret]);
    expect(body).toMatchObject({
      message: expect.stringMatching(/^Invalid token: this API key is disabled/) as string,
      refused: disabled.id,
    });
  });

  it('knows the caller of a key that it refuses', async () => {
    const expired = await newKey('expired', new Date(Date.now() - 1000));
    const deleted = await newKey('deleted');
    await keys.delete(deleted.id);
    expect((await ask(['x-api-key', expired.secret])).body).toMatchObject({
      message: expect.stringMatching(/^Invalid token: this API key expired at 2/) as string,
      refused: expired.id,
    });
    expect((await ask(['x-api-key', deleted.secret])).body).toMatchObject({
      message: expect.stringMatching(/^Invalid token: this API key was deleted/) as string,
      refused: deleted.id,
    });
  });

  it('refuses a key from the moment it is disabled, and its account', async () => {
    const key = await newKey('key');
    expect((await ask(['x-api-key', key.secret])).status).toBe(200);
    await keys.disable(key.id);
    await eventually(async () => expect((await ask(['x-api-key', key.secret])).status).toBe(401), 1000);
    await keys.enable(key.id);
    await eventually(async () => expect((await ask(['x-api-key', key.secret])).status).toBe(200), 1000);
    await app.get(AccountStatus).disable(accountId);
    await eventually(
      async () =>
        expect((await ask(['x-api-key', key.secret])).body).toMatchObject({
          message: expect.stringMatching(/^Invalid token: the account of this API key is suspended/) as string,
          refused: key.id,
        }),
      1000,
    );
    await app.get(AccountStatus).enable(accountId);
    await eventually(async () => expect((await ask(['x-api-key', key.secret])).status).toBe(200), 1000);
  });

  it('keeps the callers of many requests at a time apart', async () => {
    const secrets = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? good : other));
    const responses = await Promise.all(secrets.map(({ secret }) => ask(['authorization', `Bearer ${secret}`])));
    expect(responses.map(({ body }) => body['key'])).toEqual(secrets.map(({ id }) => id));
  });
});
