import { Batcher, type Flush } from './batcher.js';

/** A flush that waits until it is let go, and remembers the batches it was given. */
function gate<Input>(): { flush: Flush<Input, string>; batches: Input[][]; open: () => void } {
  const batches: Input[][] = [];
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const flush: Flush<Input, string> = async (inputs) => {
    batches.push([...inputs]);
    await opened;
    return inputs.map((input) => `done ${String(input)}`);
  };
  return { flush, batches, open };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Batcher', () => {
  it('returns each input its own output', async () => {
    const batcher = new Batcher<number, number>(async (inputs) => inputs.map((input) => input * 2));
    expect(await Promise.all([1, 2, 3].map((input) => batcher.submit(input)))).toEqual([2, 4, 6]);
  });

  it('collects whatever arrives during a flush into the next batch, in order', async () => {
    const { flush, batches, open } = gate<number>();
    const batcher = new Batcher(flush);
    const first = batcher.submit(1);
    while (batches.length === 0) await nextTurn();
    const others = [2, 3, 4].map((input) => batcher.submit(input));
    open();
    await Promise.all([first, ...others]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it('batches inputs of a few event loop turns under load', async () => {
    const { flush, batches, open } = gate<number>();
    const batcher = new Batcher(flush);
    open();
    await Promise.all([batcher.submit(1), batcher.submit(2)]);
    const third = batcher.submit(3);
    await nextTurn();
    await nextTurn();
    const fourth = batcher.submit(4);
    await Promise.all([third, fourth]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('waits for one turn only while inputs come one at a time', async () => {
    const { flush, batches, open } = gate<number>();
    const batcher = new Batcher(flush);
    open();
    const only = batcher.submit(1);
    await nextTurn();
    await nextTurn();
    expect(batches).toEqual([[1]]);
    await only;
  });

  it('waits for nothing more when a batch is full', async () => {
    const { flush, batches, open } = gate<number>();
    const batcher = new Batcher(flush, { maxBatch: 2 });
    open();
    const both = [batcher.submit(1), batcher.submit(2)];
    await nextTurn();
    await nextTurn();
    expect(batches).toEqual([[1, 2]]);
    await Promise.all(both);
  });

  it('never has two flushes in flight', async () => {
    let inFlight = 0;
    let most = 0;
    const batcher = new Batcher<number, number>(
      async (inputs) => {
        most = Math.max(most, ++inFlight);
        await nextTurn();
        inFlight--;
        return inputs;
      },
      { maxBatch: 3 },
    );
    await Promise.all(Array.from({ length: 20 }, (_, index) => batcher.submit(index)));
    expect(most).toBe(1);
  });

  it('cuts a long queue into batches of at most maxBatch', async () => {
    const { flush, batches, open } = gate<number>();
    const batcher = new Batcher(flush, { maxBatch: 2 });
    open();
    await Promise.all([1, 2, 3, 4, 5].map((input) => batcher.submit(input)));
    expect(batches).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('runs the inputs of a failed batch one by one, so that only the faulty one is rejected', async () => {
    const sizes: number[] = [];
    const batcher = new Batcher<number, number>(async (inputs) => {
      sizes.push(inputs.length);
      if (inputs.includes(2)) throw new Error('two is refused');
      return inputs;
    });
    const results = await Promise.allSettled([1, 2, 3].map((input) => batcher.submit(input)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sizes).toEqual([3, 1, 1, 1]);
  });

  it('rejects a whole batch at once when its error is not worth trying alone', async () => {
    let flushes = 0;
    const lost = new Error('connection lost');
    const batcher = new Batcher<number, number>(
      async () => {
        flushes++;
        throw lost;
      },
      { retryAlone: (error) => error !== lost },
    );
    const results = await Promise.allSettled([1, 2, 3].map((input) => batcher.submit(input)));
    expect(results.every((result) => result.status === 'rejected' && result.reason === lost)).toBe(true);
    expect(flushes).toBe(1);
  });

  it('continues after a failure', async () => {
    let fails = true;
    const batcher = new Batcher<string, string>(async (inputs) => {
      if (fails) throw new Error('not now');
      return inputs;
    });
    await expect(batcher.submit('a')).rejects.toThrow('not now');
    fails = false;
    await expect(batcher.submit('b')).resolves.toBe('b');
  });

  it('rejects the inputs of a flush that loses outputs, without flushing them again', async () => {
    let flushes = 0;
    const batcher = new Batcher<number, number>(async (inputs) => {
      flushes++;
      return inputs.slice(1);
    });
    const results = await Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(flushes).toBe(1);
  });
});
