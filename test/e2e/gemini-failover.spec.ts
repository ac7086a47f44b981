import { geminiVendor } from '../conformance/protocols/gemini/vendor.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import { responseIn, end, type JsonObject, type ScriptedEvent, sse, streamHead } from '../support/scripted-upstream.js';
import { readResponse, readStream } from '../support/protocol-doubles.js';

const chunk = (candidate: JsonObject): ScriptedEvent => ({
  data: { candidates: [{ ...candidate, index: 0 }], usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } },
});
const said = (text: string): ScriptedEvent => chunk({ content: { role: 'model', parts: [{ text }] } });
const MALFORMED = chunk({ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(default_api.f(' });
const EXHAUSTED: ScriptedEvent = {
  data: { error: { code: 429, message: 'Resource has been exhausted.', status: 'RESOURCE_EXHAUSTED' } },
};

describe('a Gemini upstream that has no response', () => {
  const world = usePairsRelay();
  beforeAll(() =>
    world.relay.applyCatalog(`
models:
  - { name: twice, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
${[1, 2]
  .map(
    (tier) => `
  - { name: gemini-${tier}, tier: ${tier}, protocol: gemini, base_url: "${world.relay.upstream.url}",
      credentials: [secret-${tier}], models: { twice: vendor-gemini }, flags: ${JSON.stringify(geminiVendor.flags)} }`,
  )
  .join('')}
`),
  );

  const ask = (stream: boolean): Promise<Response> =>
    world.relay.post(PATHS.messages, world.caller.key, aRequest('messages', { model: 'twice', stream }));

  it.each([
    ['cannot be read', MALFORMED],
    ['is an error', EXHAUSTED],
  ])('is asked no more when its response %s and nothing of it has come: another one answers', async (_, failure) => {
    for (const stream of [false, true]) {
      world.relay.upstream.scriptNext([streamHead(), sse([failure]), end()]);
      world.relay.upstream.scriptNext(responseIn('gemini', { text: 'Snow.' }));
      const response = await (await ask(stream)).text();
      const received = stream
        ? readStream('messages', response)
        : readResponse('messages', JSON.parse(response) as JsonObject);
      expect(received).toMatchObject({ text: 'Snow.', stop: 'end' });
    }
    const keys = world.relay.upstream.requests.map(({ headers }) => headers['x-goog-api-key']);
    expect(keys).toEqual(['secret-1', 'secret-2', 'secret-1', 'secret-2']);
  });

  it('fails a stream that has begun, rather than to end it without the call', async () => {
    world.relay.upstream.scriptNext([streamHead(), sse([said('Let me see.'), MALFORMED]), end()]);
    const response = await (await ask(true)).text();
    expect(response).toContain('Let me see.');
    expect(response).toMatch(/event: error\ndata: .*MALFORMED_FUNCTION_CALL/);
    expect(response).not.toContain('message_stop');
    expect(world.relay.upstream.requests).toHaveLength(1);
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({
      status: 'failed',
      error_reason: 'upstream_error',
    });
  });
});
