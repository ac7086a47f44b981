import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type StoredCall } from '../support/relay-app.js';
import {
  bytes,
  chatEvents,
  chunkEvery,
  cutAt,
  type ProtocolEndpoint,
  encodeEvents,
  end,
  eventsIn,
  hang,
  type Script,
  type ScriptedEvent,
  streamHead,
} from '../support/scripted-upstream.js';
import { readEvents } from '../support/stream-text.js';

const TEXT = ['Hé', '😀 lo', '\u2028 "quoted" \\n', ' ☃'];
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 };
/** 600 × $1/M + 400 × $0.1/M + 200 × $10/M. */
const CHARGED = {
  status: 'succeeded',
  cost: '2640000',
  billing_basis: 'reported',
  prompt_tokens: '1000',
  cached_tokens: '400',
  completion_tokens: '200',
  reasoning_tokens: '50',
};
const MIB = 1024 * 1024;

/** Asks for usage, so that no chunk of Chat Completions is hidden. */
const STREAMING = { stream: true, stream_options: { include_usage: true } };

const eventsOf = (protocol: ProtocolEndpoint): ScriptedEvent[] => {
  const options = { text: TEXT, usage: { ...USAGE, reasoning: protocol === 'messages' ? 0 : 50 } };
  if (protocol === 'messages')
    // This protocol's scripts report reasoning under `output_tokens_details`, as all others do.
    return eventsIn('messages', { text: TEXT, usage: USAGE });
  return protocol === 'chat-completions' ? chatEvents({ ...options, includeUsage: true }) : eventsIn(protocol, options);
};

const utf8 = (bytesOf: Buffer, edit: (text: string) => string): Buffer => Buffer.from(edit(bytesOf.toString('utf8')));

/** Ways to write the same stream down. */
const FRAMINGS: Readonly<Record<string, (stream: Buffer) => Script>> = {
  'in one chunk (case 15)': (stream) => bytes(stream),
  'one byte at a time (case 9)': (stream) => [chunkEvery(1), bytes(stream)],
  'with CRLF (case 8)': (stream) => bytes(utf8(stream, (text) => text.replaceAll('\n', '\r\n'))),
  'with CRLF, one byte at a time (cases 8 and 9)': (stream) => [
    chunkEvery(1),
    bytes(utf8(stream, (text) => text.replaceAll('\n', '\r\n'))),
  ],
  'with lone CR (case 8)': (stream) => bytes(utf8(stream, (text) => text.replaceAll('\n', '\r'))),
  'with lone CR, in chunks of seven (case 8)': (stream) => [
    chunkEvery(7),
    bytes(utf8(stream, (text) => text.replaceAll('\n', '\r'))),
  ],
  'cut after each byte of an emoji (case 10)': (stream) => {
    const emoji = stream.indexOf('😀');
    return [cutAt(emoji + 1, emoji + 2, emoji + 3, emoji + 4), bytes(stream)];
  },
  'with comments, id: and retry: lines (case 11)': (stream) =>
    bytes(
      utf8(stream, (text) => `: hello\n\n${text.replaceAll('\n\n', '\nid: 7\nretry: 1000\n\n:\n\n: PROCESSING\n\n')}`),
    ),
  'with comments inside events (case 11)': (stream) =>
    bytes(utf8(stream, (text) => text.replaceAll('\ndata:', '\n: inside\ndata:'))),
  'without a space behind data: (case 13)': (stream) =>
    bytes(utf8(stream, (text) => text.replaceAll('data: ', 'data:').replaceAll('event: ', 'event:'))),
  'without the last empty line (case 16)': (stream) => bytes(stream.subarray(0, -1)),
  'without the last line feed (case 16)': (stream) => bytes(stream.subarray(0, -2)),
  'behind a byte order mark (case 17)': (stream) => bytes(Buffer.concat([Buffer.from('\uFEFF'), stream])),
  'with more empty lines than needed': (stream) => bytes(utf8(stream, (text) => text.replaceAll('\n\n', '\n\n\n\n'))),
};

describe('R7: a stream of an upstream, however it is written down', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  async function ask(
    protocol: ProtocolEndpoint,
    script: Script,
  ): Promise<{ body: Buffer; status: number; row: StoredCall }> {
    const caller = await relay.caller();
    relay.upstream.script([streamHead(), script, end()]);
    const request = aRequest(protocol, protocol === 'chat-completions' ? STREAMING : { stream: true });
    const response = await relay.post(PATHS[protocol], caller.key, request);
    const body = Buffer.from(await response.arrayBuffer());
    return { body, status: response.status, row: await relay.onlyCall(caller) };
  }

  describe.each(PROTOCOLS)('%s', (protocol) => {
    const events = eventsOf(protocol);
    const stream = encodeEvents(events);
    const expected = readEvents(stream);

    it.each(Object.entries(FRAMINGS))(
      'gives the client the same events and is metered alike: %s',
      async (_, framing) => {
        const { body, row } = await ask(protocol, framing(stream));
        // `readEvents` refuses CR, which some clients cannot read, and an end that is not whole.
        expect(readEvents(body).filter(({ event, data }) => event !== undefined || data !== '')).toEqual(expected);
        expect(row).toMatchObject(CHARGED);
      },
    );

    it('is understood when an event has two data: lines (case 12)', async () => {
      const split = utf8(stream, (text) => text.replaceAll(/^data: \{(.*)$/gm, 'data: {\ndata: $1'));
      const { body, row } = await ask(protocol, bytes(split));
      expect(readEvents(body).map(({ data }) => data.replace('\n', ''))).toEqual(expected.map(({ data }) => data));
      expect(row).toMatchObject(CHARGED);
    });

    it('may have 200 events in one chunk (case 15)', async () => {
      const many = Array.from({ length: 200 }, (_, index) => `${index} `);
      const all =
        protocol === 'chat-completions'
          ? chatEvents({ text: many, includeUsage: true })
          : eventsIn(protocol, { text: many });
      const { body } = await ask(protocol, bytes(encodeEvents(all)));
      expect(body.toString()).toBe(encodeEvents(all).toString());
    });

    it('may hold one event of 12 MiB in small pieces, which costs its own size and no more (case 14)', async () => {
      const large = 'aGVsbG8g'.repeat((12 * MIB) / 8);
      const sent = encodeEvents(withLargeEvent(protocol, events, large));
      const used = peakMemory();
      const { body, row } = await ask(protocol, [chunkEvery(4096), bytes(sent)]);
      const peak = used.stop();
      expect(sha256(body)).toBe(sha256(sent));
      expect(row).toMatchObject(CHARGED);
      // The upstream's copies and the client's are in this process too.
      expect(peak / MIB).toBeLessThan(250);
    });

    it('may not hold an event without end: the relay gives up and leaves the upstream', async () => {
      const start = encodeEvents(events.slice(0, 4));
      const piece = Buffer.alloc(MIB, 'x');
      const endless: Script = [bytes(start), bytes('data: {"'), Array.from({ length: 33 }, () => bytes(piece)), hang()];
      const { body, row } = await ask(protocol, endless);
      const request = await relay.upstream.nextRequest();
      expect(await request.closed).toBe('left');
      expect(row).toMatchObject({ status: 'failed', error_reason: 'upstream_error' });
      expect(body.length).toBeLessThan(MIB);
    });
  });

  /** Terminators that are missing, doubled, or followed by more (case 18). */
  describe('with another end than usual (case 18)', () => {
    const GARBAGE = 'data: {"choices":[{"index":0,"delta":{"content":"MORE"}}],"type":"more"}\n\ndata: garbage\n\n';

    it.each([
      ['[DONE] is missing', (whole: string) => whole.replace('data: [DONE]\n\n', '')],
      ['[DONE] comes twice', (whole: string) => `${whole}data: [DONE]\n\n`],
      ['events follow [DONE]', (whole: string) => `${whole}${GARBAGE}`],
      ['[DONE] has no empty line', (whole: string) => whole.trimEnd()],
    ])('Chat Completions: %s', async (_, edit) => {
      const whole = encodeEvents(eventsOf('chat-completions')).toString();
      const { body, row } = await ask('chat-completions', bytes(edit(whole)));
      expect(body.toString()).toBe(whole);
      expect(row).toMatchObject(CHARGED);
    });

    it.each(['in the same chunk', 'in a chunk of its own', 'after a while'])(
      'lets nothing through that follows the end: %s',
      async (when) => {
        for (const protocol of PROTOCOLS) {
          const whole = encodeEvents(eventsOf(protocol)).toString();
          const more: Script = when === 'after a while' ? [{ type: 'delay', ms: 50 }, bytes(GARBAGE)] : bytes(GARBAGE);
          const script = when === 'in the same chunk' ? bytes(whole + GARBAGE) : [bytes(whole), more];
          const { body, row } = await ask(protocol, script);
          expect(body.toString()).toBe(whole);
          expect(row).toMatchObject(CHARGED);
        }
      },
    );

    it('Responses: [DONE] comes twice', async () => {
      const whole = encodeEvents(eventsOf('responses')).toString();
      const { body, row } = await ask('responses', bytes(`${whole}data: [DONE]\n\n`));
      expect(body.toString()).toBe(whole);
      expect(row).toMatchObject(CHARGED);
    });

    it.each(PROTOCOLS)('does not wait for an upstream that keeps the connection open: %s', async (protocol) => {
      const whole = encodeEvents(eventsOf(protocol)).toString();
      const { body, row } = await ask(protocol, [bytes(whole), hang()]);
      expect(body.toString()).toBe(whole);
      expect(row).toMatchObject(CHARGED);
    });

    it.each(PROTOCOLS)(
      'takes a complete response for one though the connection breaks behind it: %s',
      async (protocol) => {
        const whole = encodeEvents(eventsOf(protocol)).toString();
        const reset: Script = [bytes(whole), { type: 'delay', ms: 20 }, { type: 'destroy', how: 'reset' }];
        const { body, row } = await ask(protocol, reset);
        expect(body.toString()).toBe(whole);
        expect(row).toMatchObject(CHARGED);
      },
    );

    it.each(PROTOCOLS)('is not taken for complete when its end is missing (cases 36 and 40): %s', async (protocol) => {
      const events = eventsOf(protocol).filter(({ data }) => !isEnd(data));
      const { body, row } = await ask(protocol, bytes(encodeEvents(events)));
      expect(row).toMatchObject({ status: 'failed', error_reason: 'upstream_truncated' });
      expect(body.toString()).toContain(protocol === 'chat-completions' ? '"code":"upstream_truncated"' : '"error"');
    });
  });
});

/** What ends a response: a finish reason, the terminal event, the marker. */
function isEnd(data: ScriptedEvent['data']): boolean {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return /\[DONE\]|"finish_reason":"|"message_stop"|"response\.completed"/.test(text);
}

/** The stream with a picture, or as much text, in its third event. */
function withLargeEvent(protocol: ProtocolEndpoint, events: readonly ScriptedEvent[], large: string): ScriptedEvent[] {
  const base = events[0]?.data as Readonly<Record<string, unknown>>;
  const event: Readonly<Record<ProtocolEndpoint, ScriptedEvent>> = {
    'chat-completions': { data: { ...base, choices: [{ index: 0, delta: { content: large }, finish_reason: null }] } },
    messages: {
      event: 'content_block_delta',
      data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: large } },
    },
    responses: {
      event: 'response.image_generation_call.partial_image',
      data: { type: 'response.image_generation_call.partial_image', partial_image_b64: large },
    },
  };
  return [...events.slice(0, 3), event[protocol], ...events.slice(3)];
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** How far the memory of this process grows while something runs, in bytes. */
function peakMemory(): { stop(): number } {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const used = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = used();
  let peak = before;
  const look = (): void => void (peak = Math.max(peak, used()));
  const timer = setInterval(look, 5);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return peak - before;
    },
  };
}
