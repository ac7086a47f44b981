import { clientOf } from '../conformance/protocols/index.js';
import { PATHS } from '../support/protocols.js';
import { NAMED_PAIRS, pairsCatalog } from '../support/pairs.js';
import { RelayApp } from '../support/relay-app.js';
import {
  delay,
  end,
  errorResponse,
  eventsAround,
  eventsIn,
  gate,
  hang,
  pacedStream,
  type Script,
  sse,
  streamHead,
  waitFor,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { readStream, requestIn } from '../support/protocol-doubles.js';
import { readEvents, readText, withoutKeepAlives } from '../support/stream-text.js';

const KEEP_ALIVE_MS = 60;
const PRELUDE_MS = 100;

let relay: RelayApp;
beforeAll(async () => {
  relay = await RelayApp.start({ keepAliveMs: KEEP_ALIVE_MS, preludeMs: PRELUDE_MS });
  await relay.applyCatalog(pairsCatalog(relay.upstream.url));
});
afterAll(() => relay.close());
afterEach(() => relay.upstream.reset());

const FOREIGN_PAIRS = NAMED_PAIRS.filter(([, { client, upstream }]) => client !== upstream);

describe.each(FOREIGN_PAIRS)('a stream that is translated, %s', (_, { client, upstream, model }) => {
  const events = eventsIn(upstream, { text: ['Hello ', 'there'], toolCalls: [WEATHER_CALL] });

  async function ask(script: Script): Promise<Response> {
    const { key } = await relay.caller();
    relay.upstream.script(script);
    const request = requestIn(client, { turns: [{ by: 'user', text: 'Hello' }], outputLimit: 500 });
    const usage = client === 'chat-completions' ? { stream_options: { include_usage: true } } : {};
    return relay.post(PATHS[client], key, { model, stream: true, ...usage, ...request });
  }

  it('comes in whole events, with line feeds only (case 23)', async () => {
    const response = await ask(pacedStream(upstream, events, 5));
    const chunks: string[] = [];
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) chunks.push(chunk);
    for (const chunk of chunks) expect(chunk).toMatch(/\n\n$/);
    const text = chunks.join('');
    expect(text).not.toContain('\r');
    expect(text.includes('event:')).toBe(client !== 'chat-completions');
    expect(text.includes('[DONE]')).toBe(client !== 'messages');
    expect(readStream(client, text)).toMatchObject({ text: 'Hello there', stop: 'tools' });
  });

  it('is kept alive while the upstream is idle, and no number is used up by it (case 24)', async () => {
    const { until, behind } = eventsAround(events, 'Hello ');
    const idle = delay(KEEP_ALIVE_MS * 5);
    const response = await ask([streamHead(), idle, sse(until), idle, sse(behind), end()]);
    const text = await response.text();
    const begun = text.search(/^(?:data|event):/m);
    expect(text.slice(0, begun).match(/^: keepalive$/gm)!.length).toBeGreaterThanOrEqual(1);
    const [, during = ''] = /Hello (.*)there/s.exec(text)!;
    const sign = client === 'messages' ? /^event: ping$/gm : /^: keepalive$/gm;
    expect(during.match(sign)!.length).toBeGreaterThanOrEqual(2);
    expect(readStream(client, text)).toMatchObject({ text: 'Hello there' });
  });

  it('writes nothing before its upstream does, and reports a late refusal in the stream (case 30)', async () => {
    const refusal = gate();
    const response = await ask([waitFor(refusal), errorResponse(upstream, 500)]);
    expect(response.status).toBe(200);
    const text = await readText(response, (soFar) => {
      if (soFar.startsWith(': keepalive\n\n')) refusal.open();
    });
    clientOf(client).expectFailure([], readEvents(withoutKeepAlives(text)));
  });

  it('is left when its client leaves (case 103)', async () => {
    const { until } = eventsAround(events, 'Hello ');
    const response = await ask([streamHead(), sse(until), hang()]);
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(await (await relay.upstream.nextRequest()).closed).toBe('left');
  });
});
