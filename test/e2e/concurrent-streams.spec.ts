import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp } from '../support/relay-app.js';
import {
  chatEvents,
  delay,
  destroy,
  encodeEvents,
  end,
  eventsIn,
  type RecordedRequest,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { readData } from '../support/stream-text.js';

const CALLS = 200;

/** What the upstream says to the call of this number, and to no other. */
function eventsOf(protocol: string, number: number): ScriptedEvent[] {
  const options = {
    id: `answer-${number}`,
    model: `model-of-${number}`,
    created: 1000 + number,
    text: Array.from({ length: 5 + (number % 7) }, (_, index) => `<${number}:${index}>`),
    usage: { prompt: 1000 + number, completion: 10 + number },
  };
  return protocol === 'chat-completions' ? chatEvents({ ...options, includeUsage: true }) : eventsIn(protocol, options);
}

/** Every seventh response breaks in its middle. */
const breaks = (number: number): boolean => number % 7 === 6;
const whatComes = (protocol: string, number: number): ScriptedEvent[] => {
  const events = eventsOf(protocol, number);
  return breaks(number) ? events.slice(0, events.length - 4) : events;
};

/** Answers by the number in the request, a few events at a time, so that all streams mix. */
function answer(request: RecordedRequest): Script {
  const number = Number(/call number (\d+)/.exec(request.body.toString())?.[1]);
  const events = whatComes(request.protocol ?? 'messages', number);
  const pieces = Array.from({ length: Math.ceil(events.length / 2) }, (_, index) =>
    events.slice(2 * index, 2 * index + 2),
  );
  const mixed = pieces.map((piece, index) => [delay((number * 7 + index * 3) % 11), sse(piece)]);
  return [streamHead(), mixed, breaks(number) ? destroy('close') : end()];
}

describe('200 streams at once', () => {
  let relay: RelayApp;
  // A machine that is busy with 200 streams takes its time over their last lines.
  beforeAll(async () => (relay = await RelayApp.start({ lingerMs: 20_000 })));
  afterAll(() => relay.close());

  it("do not mix: ids, texts, sequence numbers and rows are each call's own, and all are settled (case 106)", async () => {
    const callers = await Promise.all([1, 2, 3].map(() => relay.caller({ credit: '1000' })));
    relay.upstream.script(answer);
    const calls = Array.from({ length: CALLS }, async (_, number) => {
      const protocol = PROTOCOLS[number % 3]!;
      const caller = callers[number % 2]!;
      const content = `This is call number ${number}.`;
      const said = protocol === 'responses' ? { input: content } : { messages: [{ role: 'user', content }] };
      const body = aRequest(protocol, { ...said, stream: true, stream_options: { include_usage: true } });
      const response = await relay.post(PATHS[protocol], caller.key, body);
      return { number, protocol, id: response.headers.get('x-request-id'), text: await response.text() };
    });
    const responses = await Promise.all(calls);
    for (const { number, protocol, text, id } of responses) {
      const events = whatComes(protocol, number);
      const passed = encodeEvents(events).toString();
      expect(text.slice(0, passed.length)).toBe(passed);
      const failure = text.slice(passed.length);
      if (!breaks(number)) expect(failure).toBe('');
      else expect(failure).toContain(`(request id: ${id})`);
      if (!breaks(number) || protocol !== 'responses') continue;
      expect(readData(failure)).toMatchObject([
        { type: 'error', sequence_number: events.length },
        { type: 'response.failed', sequence_number: events.length + 1, response: { id: `answer-${number}` } },
        '[DONE]',
      ]);
    }

    const rows = (await Promise.all(callers.map((caller) => relay.calls(caller)))).flat();
    const byId = new Map(rows.map((row) => [row.id, row]));
    expect(byId.size).toBe(CALLS);
    for (const { number, protocol, id } of responses) {
      const row = byId.get(id ?? '');
      expect(row).toMatchObject({ account_id: callers[number % 2]!.accountId, protocol });
      if (breaks(number)) {
        expect(row).toMatchObject({ status: 'failed', error_reason: 'upstream_error', billing_basis: 'partial' });
        continue;
      }
      expect(row).toMatchObject({
        status: 'succeeded',
        billing_basis: 'reported',
        prompt_tokens: String(1000 + number),
        completion_tokens: String(10 + number),
        // $1/M in, $10/M out, in nano-dollars.
        cost: String((1000 + number) * 1000 + (10 + number) * 10_000),
      });
    }
    for (const caller of callers) expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    expect(await relay.wallet(callers[2]!)).toMatchObject({ balance: '1000' });
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
