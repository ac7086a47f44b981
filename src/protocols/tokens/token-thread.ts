import { Injectable } from '@nestjs/common';

/** The thread's program, and how much it is trusted with. Tests put others in their place. */
@Injectable()
export class TokenThread {
  readonly program: URL = new URL('./token-worker.js', import.meta.url);
  /** From when a count is asked for until it is given up, in ms. The first one waits for the thread to start as well. */
  readonly patienceMs: number = 10_000;
  /** Of one request, in bytes. More text than this fits into no model's context; images are counted elsewhere. */
  readonly maxBytes: number = 32 * 1024 * 1024;
  /** Of all that wait, in bytes. */
  readonly maxWaitingBytes: number = 64 * 1024 * 1024;
  /** Of V8's heap in the thread, in MiB. */
  readonly maxHeapMib: number = 512;
}
