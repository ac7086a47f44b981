import { Injectable } from '@nestjs/common';

/** The program of the thread that translates large requests, and its limits. Tests replace it. */
@Injectable()
export class TranslationThread {
  readonly program: URL = new URL('../translation-worker.js', import.meta.url);
  /** Requests that are as small are translated at once: it takes a few milliseconds. */
  readonly maxInlineBytes: number = 512 * 1024;
  readonly maxInlineValues: number = 4000;
  /** Of one request, in ms; the first waits for the thread to start as well. */
  readonly maxMs: number = 120_000;
  /** Of V8's heap in the thread, in MiB. */
  readonly maxHeapMib: number = 2048;
}
