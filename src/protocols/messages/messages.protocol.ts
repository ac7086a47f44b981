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
  renderSse,
  type RequestLine,
  type StreamRenderer,
  type TreeObject,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { type LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import { renderMessagesResponse } from './messages.response.js';
import { renderMessagesError, renderMessagesErrorEvent } from './messages.errors.js';
import { FORWARDED_HEADERS, MESSAGES, messagesHeadReader } from './messages.head.js';
import { MESSAGES_QUESTION } from './messages.count.js';
import { renderMessagesLimits } from './messages.limits.js';
import { MessagesRenderer } from './messages.renderer.js';
import { parseMessagesRequest, RAW_MEMBERS } from './messages.request.js';
import { VERSION_HEADERS, versionHeaderOf } from './messages.version.js';
import { MESSAGES_TEXTS } from './messages.texts.js';

const PING = renderSse('ping', '{"type":"ping"}');
const MODELS_ON_A_PAGE = 20;

/** Where calls are posted. */
export const MESSAGES_PATH = '/v1/messages';

/** Anthropic's Messages, as clients speak it. */
@Injectable()
@Protocol()
export class MessagesProtocol implements ProtocolAdapter {
  readonly id = MESSAGES;
  readonly callPaths = [MESSAGES_PATH] as const;
  readonly promptQuestion = MESSAGES_QUESTION;
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = MESSAGES_TEXTS;
  readonly startsWithPromptTokens = true;
  readonly forwardedHeaders = [...FORWARDED_HEADERS, ...VERSION_HEADERS];

  /** Clients of this dialect name its version wherever they go, also where dialects share a path. */
  claims(request: RequestLine): boolean {
    if (/^\/v1\/messages(?:\/|$)/.test(request.path)) return true;
    return /^\/v1(?:\/|$)/.test(request.path) && versionHeaderOf(request) !== undefined;
  }

  headReader(request: RequestLine): HeadReader {
    return messagesHeadReader(request);
  }

  parseRequest(request: TreeObject, context: ParseContext): CallContent {
    return parseMessagesRequest(request, context);
  }

  renderResponse(result: CallResult, context: RenderContext): string {
    return renderMessagesResponse(result, context);
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new MessagesRenderer(context);
  }

  renderError(error: AppError, requestId: string): RenderedError {
    return renderMessagesError(error, requestId);
  }

  renderLimits(standings: LimitStatuses): Record<string, string> {
    return renderMessagesLimits(standings);
  }

  renderStreamError(call: Call, error: AppError): Uint8Array {
    return Buffer.from(renderMessagesErrorEvent(error, call.id));
  }

  /** Before `message_start` no event may come. */
  keepAlive(begun: boolean): Uint8Array {
    return begun ? PING : KEEP_ALIVE_COMMENT;
  }

  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject {
    return renderModelPage(pageOf(models, request, MODELS_ON_A_PAGE));
  }

  renderModel(model: ListedModel): JsonObject {
    return renderListedModel(model);
  }
}
