import { Injectable } from '@nestjs/common';
import type { LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
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
  type TextPlaces,
  type TreeObject,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { CHAT_COMPLETIONS, chatHeadReader, FORWARDED_HEADERS } from './head.js';
import { ChatRenderer, renderChatResponse, streamFailure } from './renderer.js';
import { parseChatRequest, RAW_MEMBERS } from './request.js';

/** Path of calls. */
const CHAT_COMPLETIONS_PATH = '/v1/chat/completions';

/** The client half of OpenAI's Chat Completions. */
@Injectable()
@Protocol()
export class ChatCompletionsProtocol implements ProtocolAdapter {
  readonly id = CHAT_COMPLETIONS;
  readonly callPaths = [CHAT_COMPLETIONS_PATH] as const;
  readonly forwardedHeaders = FORWARDED_HEADERS;
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = CHAT_TEXTS;

  claims(request: RequestLine): boolean {
    return request.path.startsWith('/v1/chat/');
  }

  headReader(request: RequestLine): HeadReader {
    return chatHeadReader(request);
  }

  parseRequest(request: TreeObject, context: ParseContext): CallContent {
    return parseChatRequest(request, context);
  }

  renderResponse(result: CallResult, context: RenderContext): string {
    return renderChatResponse(result, context);
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new ChatRenderer(context);
  }

  renderError(error: AppError, requestId: string): RenderedError {
    return renderOpenAiError(error, requestId);
  }

  renderLimits(standings: LimitStatuses): Record<string, string> {
    return renderOpenAiLimits(standings);
  }

  renderStreamError(call: Call, error: AppError): Uint8Array {
    return Buffer.from(streamFailure(call, error));
  }

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

/** Official and common extension members. */
const TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal', 'name', 'arguments', 'input'];

/** Where text is in this protocol. */
const CHAT_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['messages'],
    definitions: ['tools', 'functions', 'response_format'],
    ignored: ['role', 'type', 'id', 'tool_call_id', 'image_url', 'detail', 'file_id', 'format', 'cache_control'],
    whole: [],
  },
  response: { within: ['choices'], texts: TEXTS },
};
