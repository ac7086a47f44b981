import { firstValueFrom } from 'rxjs';
import { Buffer } from 'node:buffer';
import type { Config } from '../platform/config/index.js';
import type { CallBody } from '../protocols/contract/index.js';
import { BodyBudget } from './body-budget.js';
import type { ReasoningSeal } from './reasoning-seal.js';
import { TimeSlicer } from './translation-job.js';
import { TranslationQueue, TranslationThread } from './translation-queue.js';

const MIB = 1024 * 1024;

/** Replies to each job when its turn has come. */
const PROGRAM = `
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', () => parentPort.postMessage({ done: true }));
`;

class TestThread extends TranslationThread {
  override readonly program = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);
}

const call = { id: 'req_1', createdAt: 0, protocol: 'messages', request: { headers: {} }, ip: '' } as never;

describe('TranslationQueue', () => {
  let budget: BodyBudget;
  let queue: TranslationQueue;
  beforeEach(() => {
    budget = new BodyBudget({ bodyMemoryBytes: 100 * MIB } as Config);
    queue = new TranslationQueue(new TestThread(), new TimeSlicer(), budget, {
      key: Buffer.alloc(32),
    } as ReasoningSeal);
  });
  afterEach(() => queue.onModuleDestroy());

  const run = (accountId: string, body: CallBody = { bytes: Buffer.alloc(MIB) }, referencedLength = 0) =>
    firstValueFrom(
      queue.run({ accountId, job: { kind: 'expand', call, found: undefined }, body, values: 10, referencedLength }),
    );

  it('continues when a waiting request loses its body because its client left', async () => {
    let isDropped = false;
    const body = {
      get bytes(): Buffer {
        if (isDropped) throw new TypeError('dropped');
        return Buffer.alloc(MIB);
      },
    };
    const first = run('one');
    const left = run('two', body);
    const next = run('three');
    isDropped = true;
    await expect(left).rejects.toThrow('dropped');
    await expect(Promise.all([first, next])).resolves.toEqual([{ done: true }, { done: true }]);
    expect(budget.takenBytes).toBe(0);
  });

  it('reserves memory for processing, including earlier responses, and leaves half of the budget free', async () => {
    const running = run('one', undefined, 2 * MIB);
    const waiting = run('two', undefined, 5 * MIB);
    expect(budget.takenBytes).toBe(8 * 3 * MIB + 250 * 10 + 5 * MIB);
    await Promise.all([running, waiting]);
    expect(budget.takenBytes).toBe(0);
    await expect(run('one', undefined, 6 * MIB)).rejects.toMatchObject({ kind: 'request_too_large' });
    expect(budget.takenBytes).toBe(0);
  });

  it('rejects waiting requests when the process stops', async () => {
    const waiting = ['one', 'one', 'two'].map((accountId) => run(accountId));
    const outcomes = Promise.allSettled(waiting);
    await queue.onModuleDestroy();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(run('one')).rejects.toMatchObject({ kind: 'shutting_down' });
  });
});
