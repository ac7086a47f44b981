import type { Subscriber } from 'rxjs';
import {
  type Frame,
  type UpstreamAdapter,
  type UpstreamHeaders,
  classifyInnerError,
} from '../protocols/contract/index.js';
import { AppError, isJsonObject } from '../platform/shared/index.js';
import type { ResponseSink } from './response-sink.js';

/** More than this of an error's body is not looked at. */
const MAX_BYTES = 64 * 1024;

/** An answer that is none: an error status, or a body of another form than was asked for. */
export class RefusedResponse implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private size = 0;
  private readonly patience: NodeJS.Timeout;

  constructor(
    private readonly out: Subscriber<Frame>,
    private readonly adapter: UpstreamAdapter,
    private readonly status: number,
    private readonly headers: UpstreamHeaders,
    patienceMs: number,
  ) {
    this.patience = setTimeout(() => this.end(), patienceMs);
  }

  chunk(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.size += bytes.length;
    if (this.size > MAX_BYTES) this.end();
  }

  /** What there is of its words says it: another channel may be waiting, and so is the client. */
  end(): void {
    this.out.error(this.errorIn(parsed(Buffer.concat(this.chunks).subarray(0, MAX_BYTES))));
  }

  /** Its status says more than that its words were cut short. */
  fail(): void {
    this.end();
  }

  stop(): void {
    clearTimeout(this.patience);
    this.chunks = [];
  }

  private errorIn(body: unknown): AppError {
    if (this.status < 200 || this.status >= 300) return this.adapter.classifyError(this.status, this.headers, body);
    // A success that says it is an error is one; a success of the wrong form is the upstream's fault.
    if (isJsonObject(body) && isJsonObject(body['error'])) return classifyInnerError(body);
    return new AppError('upstream_error', 'The upstream response does not have the requested format.', {
      failover: true,
    });
  }
}

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    // An error page or plain text: classified by its status, quoted at most.
    return text;
  }
}
