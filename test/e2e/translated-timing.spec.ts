import { PATHS, aRequest } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { NAMED_PAIRS, type Pair, pairsCatalog } from '../support/pairs.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp } from '../support/relay-app.js';
import {
  type AnswerOptions,
  end,
  eventsIn,
  gate,
  type JsonObject,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';

/** Each bird is named by one event of the upstream first; those that sum up name it again. */
const BIRDS = [
  'heron',
  'stork',
  'robin',
  'raven',
  'finch',
  'eagle',
  'goose',
  'crane',
  'swift',
  'quail',
  'egret',
  'gull',
  'owl',
];
const RESPONSE: AnswerOptions = {
  reasoning: ['heron ', 'stork'],
  text: ['robin ', 'raven ', 'finch'],
  toolCalls: [
    { id: 'call_eagle', name: 'goose', arguments: ['{"crane":', '"swift ', 'quail"}'] },
    { id: 'call_egret', name: 'gull', arguments: ['{"owl":1}'] },
  ],
};

const birdsIn = (text: string): string[] => BIRDS.filter((bird) => text.includes(bird));

/** What makes a client want to see reasoning. */
const REASONING: Readonly<Record<Pair['client'], JsonObject>> = {
  responses: { reasoning: { effort: 'high', summary: 'auto' } },
  'chat-completions': { reasoning_effort: 'high' },
  messages: { thinking: { type: 'adaptive', display: 'summarized' } },
};

const FOREIGN_PAIRS = NAMED_PAIRS.filter(([, { client, upstream }]) => client !== upstream);

describe('a stream between two protocols', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    // Nothing but content lets a response go.
    relay = await RelayApp.start({ preludeMs: 60_000 });
    await relay.applyCatalog(pairsCatalog(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });

  it.each(FOREIGN_PAIRS)(
    'says what each event says before the upstream sends the next one, in whole events (case 23): %s',
    async (_, { client: protocol, upstream, model }) => {
      const events = eventsIn(upstream, RESPONSE).map((event) => ({ event, received: gate() }));
      relay.upstream.script([
        streamHead(),
        events.map(({ event, received }) => [sse([event]), waitFor(received)]),
        end(),
      ]);
      const { key } = await relay.caller();
      const body = aRequest(protocol, { model, stream: true, ...REASONING[protocol] });
      const client = await RawClient.post({ url: relay.url, path: PATHS[protocol], key, body });
      const named = new Set<string>();
      for (const { event, received } of events) {
        for (const bird of birdsIn(JSON.stringify(event))) named.add(bird);
        await eventually(() => expect(birdsIn(client.text)).toEqual([...named]));
        received.open();
      }
      await client.complete();
      expect([...named]).toEqual(BIRDS);
      for (const chunk of client.chunks.map(String)) expect(chunk).toMatch(/^(?:event|data): (?:.|\n)*\n\n$/);
    },
  );
});
