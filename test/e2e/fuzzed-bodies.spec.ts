import fc from 'fast-check';
import { aRequest, DIALECTS, PATHS } from '../support/dialects.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  bytes,
  type Dialect,
  encodeEvents,
  eventsIn,
  head,
  type JsonObject,
  type Script,
  streamHead,
} from '../support/scripted-upstream.js';
import { sendRaw } from '../support/wire.js';

/** So long each dialect is tried, in ms: as many bodies as a busy machine can take. */
const TIME_MS = 2500;
/** More than any answer of this relay takes, on any machine. */
const BOUNDED_MS = 10_000;

/** Every member that a dialect interprets, and some that it does not. */
const MEMBERS = [
  'model',
  'messages',
  'input',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'stream_options',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'output_config',
  'background',
  'prompt',
  'tools',
  'MODEL',
  '__proto__',
  'constructor',
];
const ODD = [
  'null',
  '""',
  '-0',
  '1e999',
  '9007199254740993',
  '1'.repeat(2000),
  String.raw`"\ud83d"`,
  String.raw`"m\u0000"`,
  '"m\0"',
  String.raw`"\x"`,
  `"${'m'.repeat(5000)}"`,
  '['.repeat(10_000) + ']'.repeat(10_000),
  '{"a":'.repeat(10_000),
  '{"include_usage":{},"type":[],"effort":1,"budget_tokens":"x"}',
  '{"include_usage":true,"include_usage":false}',
  '"\u2028\ufeff"',
  '[{"type":"image"},{"role":null,"content":[[[]]]}]',
];

const odd = fc.oneof(fc.constantFrom(...ODD), fc.json());
const members = fc.array(fc.tuple(fc.constantFrom(...MEMBERS), odd), { minLength: 1, maxLength: 4 });

/** A good request with members put in front, behind, or in place of its own; then perhaps damaged. */
const bodies = (dialect: Dialect): fc.Arbitrary<Buffer> => {
  const good = JSON.stringify(aRequest(dialect)).slice(1, -1);
  const spoiled = fc.tuple(members, fc.constantFrom('front', 'behind', 'alone')).map(([added, place]) => {
    const text = added.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join();
    return Buffer.from(`{${{ front: `${text},${good}`, behind: `${good},${text}`, alone: text }[place]}}`);
  });
  const damaged = fc.tuple(spoiled, fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([body, at, damage]) => {
    const place = at % body.length;
    return Buffer.concat([body.subarray(0, place), damage, body.subarray(place + damage.length)]);
  });
  return fc.oneof(
    spoiled,
    damaged,
    fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)),
  );
};

/** Names and values that may stand in a request, whatever they mean. */
const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      'content-type',
      'anthropic-version',
      'anthropic-beta',
      'accept',
      'openai-beta',
      'x-odd',
      'accept-encoding',
      'content-encoding',
    ),
    fc.oneof(
      fc.string({ unit: fc.constantFrom(...'abc/;=,*"\\ '), maxLength: 30 }),
      fc.constantFrom('application/json', 'text/plain', 'multipart/form-data', 'x'.repeat(4000), 'gzip', 'br, zstd'),
    ),
  ),
  { maxLength: 3 },
);

/** The dialect's own form of an error, with a message, and the member at fault by name where there is one. */
function expectWorded(dialect: Dialect, body: JsonObject): void {
  const { error } = body as { readonly error: JsonObject };
  expect(error['message']).toMatch(/\(request id: req_[0-9a-f]{32}\)$/);
  expect(error['type']).toEqual(expect.any(String));
  if (dialect === 'messages')
    return expect(body).toMatchObject({ type: 'error', request_id: expect.any(String) as string });
  const param = error['param'];
  if (param !== null) expect(error['message']).toContain((param as string).split('.')[0]);
}

describe('R10: bodies that nobody meant', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller({ credit: '1000000' });
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const answers =
    (dialect: Dialect): Script =>
    (request) =>
      request.headers.accept === 'text/event-stream'
        ? [streamHead(), bytes(encodeEvents(eventsIn(dialect)))]
        : [head(200, { 'content-type': 'application/json' }), bytes('{"usage":{}}')];

  it.each(DIALECTS)('are answered, or refused in words of %s, and never a failure of ours', async (dialect) => {
    relay.upstream.script(answers(dialect));
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(bodies(dialect), headers, fc.boolean(), async (body, extra, chunked) => {
        tried += 1;
        const begun = performance.now();
        const response = await sendRaw(`${relay.url}${PATHS[dialect]}`, {
          headers: ['authorization', `Bearer ${caller.key}`, ...extra.flat()],
          body,
          chunked,
        });
        const text = await response.text();
        expect(performance.now() - begun).toBeLessThan(BOUNDED_MS);
        if (response.status === 200) return;
        expect([Math.floor(response.status / 100), text]).toEqual([4, text]);
        expectWorded(dialect, JSON.parse(text) as JsonObject);
      }),
      { numRuns: 100_000, interruptAfterTimeLimit: TIME_MS, markInterruptAsFailure: false },
    );
    expect(tried).toBeGreaterThan(5);
  });
});
