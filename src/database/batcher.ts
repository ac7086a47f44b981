/** What a batch does with its inputs: the outputs have the same length and the same order. */
export type Flush<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>;

export interface BatcherOptions {
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
 * Group commit without timers: one flush is in flight at a time, and whatever arrives meanwhile is the next batch.
 * Alone, an input waits for nothing; under load, batches grow by themselves. Inputs are flushed in order of arrival.
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
    // Inputs submitted in the same turn belong to the first batch.
    await Promise.resolve();
    while (this.queue.length > 0) await this.runBatch(this.queue.splice(0, this.maxBatch));
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
  const fault = new RangeError(`A flush of ${batch.length} inputs returned ${outputs} outputs.`);
  for (const { reject } of batch) reject(fault);
}
