import { RawClient } from '../support/raw-client.js';
import { RelayApp } from '../support/relay-app.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
/** How long a form may take here. */
const FORM_MS = 200;

describe('the body of a form', () => {
  let relay: RelayApp;

  beforeAll(async () => (relay = await RelayApp.start({ formMs: FORM_MS, lingerUnreadMs: FORM_MS })));
  afterEach(() => RawClient.closeAll());
  afterAll(() => relay.close());

  const begin = (body: string, length: number): Promise<RawClient> =>
    RawClient.post({
      url: relay.url,
      path: '/sign-in',
      key: '',
      body,
      headers: { ...FORM, 'content-length': String(length) },
    });
  const expectAnswered = async (client: RawClient, status: number, text: string): Promise<void> => {
    const head = await client.head;
    expect(head.status).toBe(status);
    expect(head.headers.get('connection')).toBe('close');
    expect(await client.ended).toBe('complete');
    expect(client.text).toContain(text);
    await client.closed;
  };

  it('is waited for only so long; then it is said so, and the connection is closed', async () => {
    await expectAnswered(await begin('email=', 1000), 408, 'did not arrive within');
  });

  it('does not gain time by coming byte by byte', async () => {
    const client = await begin('email=', 60_000);
    const trickle = setInterval(() => void client.send('x'), FORM_MS / 10);
    try {
      await expectAnswered(client, 408, 'did not arrive within');
    } finally {
      clearInterval(trickle);
    }
  });

  it('that is too large is refused, in words that reach the browser', async () => {
    await expectAnswered(
      await begin(`email=${'x'.repeat(270_000)}`, 280_000),
      413,
      'The maximum size of a form is 256 KiB.',
    );
  });
});
