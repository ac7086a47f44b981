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
import { buildRequest } from './build.js';
import { decodeResponse, ResponsesDecoder } from './decoder.js';
import { MIN_OUTPUT_TOKENS, RESPONSES } from './head.js';
import { RESPONSES_UPSTREAM_SOCKET } from './upstream-socket.js';
import { ResponsesVerbatim } from './verbatim.js';

/** The upstream half of OpenAI's Responses. */
@Injectable()
@Upstream()
export class ResponsesUpstream implements UpstreamAdapter {
  readonly id = RESPONSES;
  readonly provider = 'openai';
  readonly defaultAuth = 'bearer';
  readonly verbatim = new ResponsesVerbatim();
  readonly socket = RESPONSES_UPSTREAM_SOCKET;
  readonly modelListing = modelListing({ list: 'data', nameOf: idOf });
  readonly buildRequest = buildRequest;
  readonly decodeResponse = decodeResponse;
  readonly classifyError = classifyUpstream;

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new ResponsesDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    return jsonProbe('/responses', { model, input: 'Hi', max_output_tokens: MIN_OUTPUT_TOKENS, store: false });
  }
}
