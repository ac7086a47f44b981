import { Injectable } from '@nestjs/common';
import {
  KEEP_ALIVE_COMMENT,
  openAiErrorBody,
  pageOf,
  renderListedModel,
  renderModelPage,
  renderOpenAiError,
  renderSse,
  type Call,
  type HeadReader,
  type ListedModel,
  type ProtocolAdapter,
  type RenderedError,
  type RequestLine,
} from '../../call/index.js';
import { Protocol } from '../../relay/index.js';
import type { AppError, JsonObject } from '../../shared/index.js';
import { CHAT_COMPLETIONS, chatHeadReader, FORWARDED_HEADERS } from './chat-completions.head.js';

/** Where calls are posted. */
export const CHAT_COMPLETIONS_PATH = '/v1/chat/completions';

/** OpenAI's Chat Completions, as clients speak it. */
@Injectable()
@Protocol()
export class ChatCompletionsProtocol implements ProtocolAdapter {
  readonly id = CHAT_COMPLETIONS;
  readonly callPaths = [CHAT_COMPLETIONS_PATH] as const;
  readonly forwardedHeaders = FORWARDED_HEADERS;

  claims(request: RequestLine): boolean {
    return request.path.startsWith('/v1/chat/');
  }

  headReader(): HeadReader {
    return chatHeadReader();
  }

  renderError(error: AppError, requestId: string): RenderedError {
    return renderOpenAiError(error, requestId);
  }

  /** One frame and no `[DONE]`: a client that overlooks the frame must still see an unfinished answer. */
  renderStreamError(call: Call, error: AppError): Uint8Array {
    return renderSse(undefined, JSON.stringify({ error: openAiErrorBody(error, call.id) }));
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
