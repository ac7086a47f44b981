import { Injectable } from '@nestjs/common';
import {
  type Call,
  type CallContent,
  type CallResult,
  type HeadReader,
  KEEP_ALIVE_COMMENT,
  type ListedModel,
  pageOf,
  type ParseContext,
  type ProtocolAdapter,
  type RenderContext,
  type RenderedError,
  renderListedModel,
  renderModelPage,
  renderOpenAiError,
  renderOpenAiLimits,
  type RequestLine,
  type StreamRenderer,
  type StreamTail,
  type TreeObject,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { type LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import { renderFailure } from './responses.failure.js';
import { FORWARDED_HEADERS, responsesHeadReader, RESPONSES } from './responses.head.js';
import { RESPONSES_QUESTION } from './responses.count.js';
import { ResponsesRenderer, renderWhole } from './responses.renderer.js';
import { parseRequest, RAW_MEMBERS } from './responses.request.js';
import { RESPONSES_STORAGE } from './responses.stored.js';
import { RESPONSES_TEXTS } from './responses.texts.js';

/** Where calls are posted. */
export const RESPONSES_PATH = '/v1/responses';

/** OpenAI's Responses, as clients speak it. */
@Injectable()
@Protocol()
export class ResponsesProtocol implements ProtocolAdapter {
  readonly id = RESPONSES;
  readonly callPaths = [RESPONSES_PATH] as const;
  readonly promptQuestion = RESPONSES_QUESTION;
  readonly forwardedHeaders = FORWARDED_HEADERS;
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = RESPONSES_TEXTS;
  readonly storage = RESPONSES_STORAGE;

  claims(request: RequestLine): boolean {
    return /^\/v1\/responses(?:\/|$)/.test(request.path);
  }

  headReader(request: RequestLine): HeadReader {
    return responsesHeadReader(request);
  }

  parseRequest(request: TreeObject, context: ParseContext): CallContent {
    return parseRequest(request, context);
  }

  renderResponse(result: CallResult, context: RenderContext): string {
    return renderWhole(result, context);
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new ResponsesRenderer(context);
  }

  renderError(error: AppError, requestId: string): RenderedError {
    return renderOpenAiError(error, requestId);
  }

  renderLimits(standings: LimitStatuses): Record<string, string> {
    return renderOpenAiLimits(standings);
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
