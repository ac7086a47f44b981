import { DataSource } from 'typeorm';
import { dumpOf } from '../support/database-dump.js';
import { PATHS } from '../support/protocols.js';
import { PAIRS, pairsCatalog } from '../support/pairs.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  destroy,
  type ProtocolEndpoint,
  errorResponse,
  eventsIn,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { requestIn } from '../support/protocol-doubles.js';

const MARKER = 'the-wombat-flies-at-midnight';
const ASKED = {
  system: `System: ${MARKER}`,
  turns: [
    { by: 'user', text: `User: ${MARKER}` },
    { by: 'assistant', calls: [{ id: 'call_1', name: 'look', arguments: `{"at":"${MARKER}"}` }] },
    { by: 'tool', id: 'call_1', text: `Result: ${MARKER}` },
  ],
  tools: [{ name: 'look', description: MARKER, schema: { type: 'object', properties: {} } }],
} as const;

/** Has answers kept, where clients can. */
const KEPT: Readonly<Record<ProtocolEndpoint, object>> = {
  responses: { store: true },
  'chat-completions': {},
  messages: {},
};

describe('a dump of the database', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(pairsCatalog(relay.upstream.url));
    caller = await relay.caller({ credit: '1000' });
  });
  afterAll(() => relay.close());

  it('holds nothing in clear of what was asked and answered, whatever became of the calls', async () => {
    for (const { client, upstream, model } of PAIRS)
      for (const stream of [false, true]) {
        const scripts = [
          responseIn(upstream, { text: `Answer: ${MARKER}`, reasoning: `Thought: ${MARKER}` }),
          [streamHead(), sse(eventsIn(upstream, { text: [MARKER, MARKER] }).slice(0, -2)), destroy('close')],
          errorResponse(upstream, 400, { error: { type: 'invalid_request_error', message: 'No.' } }),
        ];
        for (const script of scripts) {
          relay.upstream.script(script);
          const body = {
            model,
            stream,
            ...requestIn(client, ASKED),
            user: MARKER,
            metadata: { user_id: MARKER },
            ...KEPT[client],
          };
          await (await relay.post(PATHS[client], caller.key, body)).text();
        }
      }
    const text = await dumpOf((sql) => relay.get(DataSource).query(sql));
    // It is a dump indeed, and has the responses that Responses clients have kept.
    const hidden = Buffer.from(MARKER);
    const forms = [MARKER, hidden.toString('hex'), hidden.toString('base64').slice(0, -4)];
    expect([caller.keyId, 'resp_', ...forms].map((form) => text.includes(form))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
