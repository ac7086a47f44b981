import { Injectable } from '@nestjs/common';
import type { AppError } from '../../platform/shared/index.js';
import {
  type Call,
  KEEP_ALIVE_COMMENT,
  type ProtocolAdapter,
  type RenderContext,
  renderListedModel,
  renderModelPage,
  renderOpenAiError,
  renderOpenAiLimits,
  type RequestLine,
  type StreamRenderer,
  type TextPlaces,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { CHAT_COMPLETIONS, chatHeadReader, VERBATIM_HEADERS, OUTPUT_MEMBERS } from './head.js';
import { ChatRenderer, renderChatResponse, streamFailure } from './renderer.js';
import { parseChatRequest, RAW_MEMBERS } from './request.js';

const CHAT_COMPLETIONS_PATH = '/v1/chat/completions';

/** The client half of OpenAI's Chat Completions. */
@Injectable()
@Protocol()
export class ChatCompletionsProtocol implements ProtocolAdapter {
  readonly id = CHAT_COMPLETIONS;
  readonly callPaths = [CHAT_COMPLETIONS_PATH] as const;
  readonly fingerprintHeaders = VERBATIM_HEADERS;
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = CHAT_TEXTS;
  readonly headReader = chatHeadReader;
  readonly parseRequest = parseChatRequest;
  readonly renderResponse = renderChatResponse;
  readonly renderError = renderOpenAiError;
  readonly renderLimits = renderOpenAiLimits;
  readonly renderModels = renderModelPage;
  readonly renderModel = renderListedModel;

  claims(request: RequestLine): boolean {
    return request.path.startsWith('/v1/chat/');
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new ChatRenderer(context);
  }

  renderStreamError(call: Call, error: AppError): Uint8Array {
    return Buffer.from(streamFailure(call, error));
  }

  keepAlive(): Uint8Array {
    return KEEP_ALIVE_COMMENT;
  }
}

const CHAT_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['messages'],
    definitions: ['tools', 'functions', 'response_format'],
    ignored: ['role', 'type', 'id', 'tool_call_id', 'image_url', 'detail', 'file_id', 'format', 'cache_control'],
    whole: [],
  },
  response: { within: ['choices'], texts: OUTPUT_MEMBERS },
};
