import type { TextPlaces } from '../../src/protocols/contract/index.js';
import { TokenCounter, type TokenThread } from '../../src/protocols/tokens/index.js';
import { builtTokenThread } from '../support/token-thread.js';

const PLACES: TextPlaces = {
  prompt: { conversation: ['messages'], definitions: [], ignored: ['role'], whole: [] },
  response: { within: ['choices'], texts: ['content'] },
};
const requestOf = (body: unknown): Parameters<TokenCounter['count']>[0] => ({
  prompt: Buffer.from(JSON.stringify(body)),
  response: ['hello'],
  places: PLACES,
});
const saying = (content: string): ReturnType<typeof requestOf> => requestOf({ messages: [{ role: 'user', content }] });

/** A thread that does what its prompt says. */
const OBEDIENT = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ prompt }) => {
    const said = Buffer.from(prompt).toString();
    if (said.includes('exit')) process.exit(7);
    if (said.includes('throw')) throw new Error('as told');
    while (said.includes('hang')) ;
    parentPort.postMessage({ prompt: said.length, output: 0 });
  });
`)}`,
);

describe('the counter of tokens', () => {
  let counter: TokenCounter;
  const counterWith = (thread: Partial<TokenThread> = {}): TokenCounter =>
    (counter = new TokenCounter(builtTokenThread(thread)));
  afterEach(() => counter.onModuleDestroy());

  it('counts in a thread of its own: the event loop is free meanwhile, even for a prompt of 5 MB', async () => {
    counterWith({ timeoutMs: 60_000 });
    await counter.count(saying('hello'));
    const request = saying(prose(5_000_000));
    // Collecting the garbage of other tests may stop this process once or twice, but not each time.
    const shares: number[] = [];
    while (shares.length < 5 && (shares.at(-1) ?? 1) >= 0.25) {
      const before = performance.eventLoopUtilization();
      expect((await counter.count(request))?.prompt).toBeGreaterThan(900_000);
      shares.push(performance.eventLoopUtilization(before).utilization);
    }
    expect(shares.at(-1)).toBeLessThan(0.25);
  });

  it('counts one request after the other, each for its caller', async () => {
    counterWith();
    const counts = await Promise.all(['', 'hello', 'hello hello'].map((text) => counter.count(saying(text))));
    expect(counts).toEqual([7, 8, 9].map((prompt) => ({ prompt, output: 1 })));
  });

  it.each(['exit', 'throw'])('loses one count when the thread is lost (%s), and starts another', async (fate) => {
    counterWith({ program: OBEDIENT });
    const [lost, next] = [counter.count(requestOf(fate)), counter.count(requestOf('count'))];
    expect(await lost).toBeUndefined();
    expect(await next).toEqual({ prompt: '"count"'.length, output: 0 });
  });

  it('gives up what takes too long, and starts another thread for what comes then', async () => {
    counterWith({ program: OBEDIENT, timeoutMs: 500 });
    const [hung, behind] = [counter.count(requestOf('hang')), counter.count(requestOf('count'))];
    expect(await Promise.all([hung, behind])).toEqual([undefined, undefined]);
    Object.assign(counter, { thread: builtTokenThread({ program: OBEDIENT }) });
    expect(await counter.count(requestOf('count'))).toBeDefined();
  });

  it('keeps no more waiting than it may', async () => {
    const prompt = Buffer.from(JSON.stringify('hang'));
    const request = { ...requestOf('hang'), prompt };
    counterWith({ program: OBEDIENT, timeoutMs: 2000, maxWaitingBytes: 3 * prompt.length });
    const counts = Array.from({ length: 5 }, () => counter.count(request));
    // One is being counted, so many wait as there is room for, and the others are told at once.
    const late = new Promise((resolve) => setTimeout(resolve, 200, 'waiting'));
    const reported = await Promise.all(counts.map((count) => Promise.race([count, late])));
    expect(reported.filter((state) => state === undefined)).not.toHaveLength(0);
    expect(reported[0]).toBe('waiting');
  });

  it('refuses what is larger than any prompt', async () => {
    counterWith({ maxBytes: 100 });
    expect(await counter.count(saying('hello'.repeat(20)))).toBeUndefined();
    expect(await counter.count(saying('hello'))).toBeDefined();
  });

  it('resolves waiting counts without a result when it is closed', async () => {
    counterWith({ program: OBEDIENT });
    const counts = [counter.count(requestOf('hang')), counter.count(requestOf('count'))];
    await counter.onModuleDestroy();
    expect(await Promise.all([...counts, counter.count(requestOf('count'))])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

/** Words in no order. */
function prose(length: number): string {
  const words = 'the quick brown fox jumps over a lazy dog while payment settles exactly'.split(' ');
  let seed = 1;
  let text = '';
  while (text.length < length) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += `${words[(seed >>> 8) % words.length]} `;
  }
  return text;
}
