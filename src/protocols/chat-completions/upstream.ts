import { Injectable } from '@nestjs/common';
import {
  type CallContent,
  classifyUpstream,
  idOf,
  jsonProbe,
  modelListing,
  type StreamDecoder,
  type UpstreamAdapter,
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
  readonly buildRequest = buildChatRequest;
  readonly decodeResponse = decodeChatResponse;
  readonly classifyError = classifyUpstream;

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new ChatDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    return jsonProbe(PATH, { model, messages: [{ role: 'user', content: 'Hi' }] });
  }
}
