import { Injectable, Module } from '@nestjs/common';
import {
  type ProtocolAdapter,
  type RenderedError,
  type StreamDecoder,
  type StreamRenderer,
  type UpstreamAdapter,
} from '../../src/protocols/contract/index.js';
import { Protocol, Upstream } from '../../src/protocols/decorators/index.js';
import { apiControllers, RelayModule } from '../../src/relay/index.js';
import { TelegraphProtocol } from '../conformance/toy/protocol.js';
import { TelegraphUpstream } from '../conformance/toy/upstream.js';
import { telegraphVendor } from '../conformance/toy/vendor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, responseOf } from '../support/scripted-responses.js';
import type { JsonObject } from '../support/scripted-steps.js';

// Adapters are written by many hands. One that is wrong may break its own calls, and neither money nor anybody else's.

const PATH = '/v1/broken';
const oops = (): never => {
  throw new TypeError('Nobody has thought of this.');
};

@Injectable()
@Protocol()
class BrokenProtocol extends (TelegraphProtocol as new () => ProtocolAdapter) {
  override readonly id = 'broken';
  override readonly callPaths = [PATH];

  override claims({ path }: { readonly path: string }): boolean {
    return path === PATH;
  }

  override renderError(): RenderedError {
    return oops();
  }

  override renderResponse(): string {
    return oops();
  }

  override renderStream(): StreamRenderer {
    return { next: oops, fail: oops };
  }

  override renderStreamError(): Uint8Array {
    return oops();
  }
}

@Injectable()
@Upstream()
class BrokenUpstream extends (TelegraphUpstream as new () => UpstreamAdapter) {
  override readonly id = 'broken';

  override decodeStream(): StreamDecoder {
    return { next: oops, end: oops };
  }
}

@Module({
  imports: [RelayModule],
  controllers: [...apiControllers(new BrokenProtocol())],
  providers: [BrokenProtocol, BrokenUpstream],
})
class BrokenModule {}

const CATALOG = (baseUrl: string): string => `
models:
  - { name: whole, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }
  - { name: broken, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }
channels:
  - { name: whole, protocol: messages, base_url: "${baseUrl}", credentials: [secret], models: [whole] }
  - { name: broken, protocol: broken, base_url: "${baseUrl}", credentials: [secret], models: [broken] }
`;

describe('an adapter that is broken', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({}, {}, undefined, undefined, [BrokenModule]);
    await relay.applyCatalog(CATALOG(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => (caller = await relay.caller()));
  afterEach(() => relay.upstream.reset());

  const hello = { lines: [{ from: 'user', text: 'Hello' }] };
  const messages = [{ role: 'user', content: 'Hello' }];
  const settled = async (): Promise<void> => {
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', error_reason: 'internal' });
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  };

  it('has its errors told in the usual words when it has none itself', async () => {
    const response = await relay.post(PATH, caller.key, { model: 'nothing', ...hello });
    expect(response.status).toBe(404);
    expect(((await response.json()) as { error: JsonObject }).error).toMatchObject({ code: 'model_not_found' });
  });

  it.each([false, true])('fails a call that it cannot write down, and settles it (streamed: %s)', async (stream) => {
    relay.upstream.script(responseIn('messages', {}));
    const response = await relay.post(PATH, caller.key, { model: 'whole', ...hello, stream });
    expect(await response.text().catch(() => 'cut off')).not.toContain('"end"');
    await settled();
  });

  it.each([false, true])(
    'fails a call whose response it cannot read, and settles it (streamed: %s)',
    async (stream) => {
      relay.upstream.script(responseOf(telegraphVendor, {}));
      const request = { model: 'broken', messages, stream };
      const response = await relay.post('/v1/chat/completions', caller.key, request);
      expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('request id: req_')]);
      await settled();
    },
  );
});
