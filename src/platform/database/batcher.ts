import { setImmediate as nextTurn } from 'node:timers/promises';

/** What a batch does with its inputs: the outputs have the same length and the same order. */
export type Flush<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>;

interface BatcherOptions {
  /** The most inputs of one flush; 64 when absent. */
  readonly maxBatch?: number;
  /**
   * Whether the inputs of a failed batch are tried one by one; always, when absent. A lost connection fails them all
   * alike: say false to it, and every input of the batch is rejected with that error at once.
   */
  readonly retryAlone?: (error: unknown) => boolean;
}

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A batch is closed so many turns of the event loop after the one before was done. With nothing else to do these pass at
 * once; under load each brings what other sockets have for this batch, and larger batches cost every side less: with 4,
 * PostgreSQL does a third less for a call, and more calls are answered sooner.
 */
const TURNS = 4;

/**
 * Group commit without timers: one flush is in flight at a time, and whatever arrives meanwhile is the next batch.
 * Alone, an input hardly waits; under load, batches grow by themselves. Inputs are flushed in order of arrival.
 */
export class Batcher<Input, Output> {
  private readonly queue: Waiting<Input, Output>[] = [];
  private readonly maxBatch: number;
  private readonly retryAlone: (error: unknown) => boolean;
  private running: Promise<void> | undefined;

  constructor(
    private readonly flush: Flush<Input, Output>,
    options: BatcherOptions = {},
  ) {
    this.maxBatch = options.maxBatch ?? 64;
    this.retryAlone = options.retryAlone ?? (() => true);
  }

  /** Resolves with this input's output once its batch is done; rejects when the input failed on its own. */
  submit(input: Input): Promise<Output> {
    return new Promise<Output>((resolve, reject) => {
      this.queue.push({ input, resolve, reject });
      this.running ??= this.run();
    });
  }

  private async run(): Promise<void> {
    do {
      for (let turn = 0; turn < TURNS && this.queue.length < this.maxBatch; turn += 1) await nextTurn();
      await this.runBatch(this.queue.splice(0, this.maxBatch));
    } while (this.queue.length > 0);
    this.running = undefined;
  }

  private async runBatch(batch: readonly Waiting<Input, Output>[]): Promise<void> {
    let outputs: readonly Output[];
    try {
      outputs = await this.flush(batch.map(({ input }) => input));
    } catch (error) {
      if (batch.length === 1 || !this.retryAlone(error)) for (const { reject } of batch) reject(error);
      else for (const waiting of batch) await this.runBatch([waiting]);
      return;
    }
    // The flush has taken effect: trying again would do it twice.
    if (outputs.length !== batch.length) rejectAll(batch, outputs.length);
    else outputs.forEach((output, index) => batch[index]?.resolve(output));
  }
}

function rejectAll<Input, Output>(batch: readonly Waiting<Input, Output>[], outputs: number): void {
  const fault = new RangeError(`A batch of ${batch.length} inputs returned ${outputs} outputs.`);
  for (const { reject } of batch) reject(fault);
}
