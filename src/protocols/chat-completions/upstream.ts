import { Injectable } from '@nestjs/common';
import type { AppError } from '../../platform/shared/index.js';
import {
  type BuildContext,
  type CallContent,
  type CallResult,
  classifyUpstream,
  idOf,
  modelListing,
  jsonProbe,
  type StreamDecoder,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { Upstream } from '../decorators/index.js';
import { buildChatRequest, PATH } from './build.js';
import { ChatDecoder, decodeChatResponse } from './decoder.js';
import { CHAT_COMPLETIONS } from './head.js';
import { ChatCompletionsVerbatim } from './verbatim.js';

/** The upstream half of Chat Completions, for its many servers. */
@Injectable()
@Upstream()
export class ChatCompletionsUpstream implements UpstreamAdapter {
  readonly id = CHAT_COMPLETIONS;
  readonly provider = 'openai';
  readonly defaultAuth = 'bearer';
  readonly verbatim = new ChatCompletionsVerbatim();
  readonly modelListing = modelListing({ list: 'data', nameOf: idOf });

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildChatRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeChatResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new ChatDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    return jsonProbe(PATH, { model, messages: [{ role: 'user', content: 'Hi' }] });
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyUpstream(status, headers, body);
  }
}
