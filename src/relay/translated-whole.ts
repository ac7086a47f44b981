import { type CallResult, eventsOf } from '../protocols/contract/index.js';
import type { ResponseSink } from './response-sink.js';
import { ResponseSize } from './response-size.js';
import type { WholeResponse } from './whole-response.js';

/** An unstreamed answer of an upstream, read when it is complete. */
export class TranslatedWhole implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private readonly size = ResponseSize.ofWhole();

  constructor(
    private readonly answer: WholeResponse,
    private readonly decode: (body: string) => CallResult,
  ) {}

  chunk(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    try {
      this.size.add(bytes);
    } catch (error) {
      this.stop();
      this.answer.fail(error);
    }
  }

  end(): void {
    try {
      const result = this.decode(Buffer.concat(this.chunks).toString('utf8'));
      this.answer.tell(result, [...eventsOf(result)]);
    } catch (error) {
      return this.answer.fail(error);
    }
    this.answer.complete();
  }

  fail(error: unknown): void {
    this.answer.fail(error);
  }

  stop(): void {
    this.chunks = [];
  }
}
