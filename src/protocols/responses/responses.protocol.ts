import { Injectable } from '@nestjs/common';
import {
  KEEP_ALIVE_COMMENT,
  pageOf,
  renderListedModel,
  renderModelPage,
  renderOpenAiError,
  type Call,
  type HeadReader,
  type ListedModel,
  type ProtocolAdapter,
  type RenderedError,
  type RequestLine,
  type StreamTail,
} from '../../call/index.js';
import { Protocol } from '../../relay/index.js';
import type { AppError, JsonObject } from '../../shared/index.js';
import { renderFailure } from './responses.failure.js';
import { FORWARDED_HEADERS, responsesHeadReader, RESPONSES } from './responses.head.js';

/** Where calls are posted. */
export const RESPONSES_PATH = '/v1/responses';

/** OpenAI's Responses, as clients speak it. */
@Injectable()
@Protocol()
export class ResponsesProtocol implements ProtocolAdapter {
  readonly id = RESPONSES;
  readonly callPaths = [RESPONSES_PATH] as const;
  readonly forwardedHeaders = FORWARDED_HEADERS;

  claims(request: RequestLine): boolean {
    return /^\/v1\/responses(?:\/|$)/.test(request.path);
  }

  headReader(): HeadReader {
    return responsesHeadReader();
  }

  renderError(error: AppError, requestId: string): RenderedError {
    return renderOpenAiError(error, requestId);
  }

  renderStreamError(call: Call, error: AppError, tail: StreamTail): Uint8Array {
    return renderFailure(call, error, tail);
  }

  /** A comment: an event would need a sequence number. */
  keepAlive(): Uint8Array {
    return KEEP_ALIVE_COMMENT;
  }

  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject {
    return renderModelPage(pageOf(models, request, Infinity));
  }

  renderModel(model: ListedModel): JsonObject {
    return renderListedModel(model);
  }
}
