import { type Dispatcher, interceptors } from 'undici';
import { AppError, ExpansionLimit } from '../../platform/shared/index.js';

// Also for statuses whose bodies are usually not decoded: errors are read and classified.
const decompress = interceptors.decompress({ skipStatusCodes: [], skipErrorResponses: false });

/** Decompresses responses of upstreams, and ends those that expand too far: they fail as `upstream_error`. */
export const boundedDecompression: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const limit = new ExpansionLimit();
  const measured: Dispatcher.Dispatch = (sent, received) => dispatch(sent, new CompressedBytes(received, limit));
  return decompress(measured)(options, new DecompressedBytes(handler, limit));
};

/** Passes everything on. The handler may be a class, so its methods are called on it. */
class PassingHandler implements Dispatcher.DispatchHandler {
  constructor(
    protected readonly handler: Dispatcher.DispatchHandler,
    protected readonly limit: ExpansionLimit,
  ) {}

  onRequestStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestStart']>>): void {
    this.handler.onRequestStart?.(...given);
  }

  onRequestUpgrade(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    this.handler.onRequestUpgrade?.(...given);
  }

  onBodySent(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onBodySent']>>): void {
    this.handler.onBodySent?.(...given);
  }

  onResponseStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.handler.onResponseStart?.(...given);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.handler.onResponseData?.(controller, bytes);
  }

  onResponseEnd(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.handler.onResponseEnd?.(...given);
  }

  onResponseError(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseError']>>): void {
    this.handler.onResponseError?.(...given);
  }
}

/** Counts the bytes of the connection. */
class CompressedBytes extends PassingHandler {
  override onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.limit.compressed(bytes);
    super.onResponseData(controller, bytes);
  }
}

/** Holds the decompressed bytes against them. */
class DecompressedBytes extends PassingHandler {
  private count = 0;
  private isOver = false;

  override onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.isOver) return;
    this.count += bytes.length;
    if (!this.limit.isExceededBy(this.count)) return super.onResponseData(controller, bytes);
    this.isOver = true;
    controller.abort(new AppError('upstream_error', 'The upstream response decompresses to too many bytes.'));
  }
}
