import { type Dispatcher, interceptors } from 'undici';
import { AppError, ExpansionLimit } from '../shared/index.js';

// Also for statuses whose bodies are usually not decoded: errors are read and classified.
const decompress = interceptors.decompress({ skipStatusCodes: [], skipErrorResponses: false });

/** Decompresses responses of upstreams, and ends those that expand too far: they fail as `upstream_error`. */
export const boundedDecompression: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const limit = new ExpansionLimit();
  const measured: Dispatcher.Dispatch = (sent, received) => dispatch(sent, counting(received, limit));
  return decompress(measured)(options, bounded(handler, limit));
};

/** Counts the bytes of the connection. */
function counting(handler: Dispatcher.DispatchHandler, limit: ExpansionLimit): Dispatcher.DispatchHandler {
  return {
    ...forwarded(handler),
    onResponseData(controller, bytes) {
      limit.compressed(bytes);
      return handler.onResponseData?.(controller, bytes);
    },
  };
}

/** Holds the decompressed bytes against them. */
function bounded(handler: Dispatcher.DispatchHandler, limit: ExpansionLimit): Dispatcher.DispatchHandler {
  let decompressedBytes = 0;
  let isOver = false;
  return {
    ...forwarded(handler),
    onResponseData(controller, bytes) {
      if (isOver) return;
      decompressedBytes += bytes.length;
      if (!limit.isExceededBy(decompressedBytes)) return handler.onResponseData?.(controller, bytes);
      isOver = true;
      controller.abort(new AppError('upstream_error', 'The upstream sent a response that expands too far.'));
    },
  };
}

/** Methods of a handler that may be a class, each called on it. */
function forwarded(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onBodySent: (...given) => handler.onBodySent?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
    onResponseError: (...given) => handler.onResponseError?.(...given),
  };
}
