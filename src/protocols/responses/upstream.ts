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
import { buildRequest } from './build.js';
import { decodeResponse, ResponsesDecoder } from './decoder.js';
import { MIN_OUTPUT_TOKENS, RESPONSES } from './head.js';
import { ResponsesVerbatim } from './verbatim.js';

/** The upstream half of OpenAI's Responses. */
@Injectable()
@Upstream()
export class ResponsesUpstream implements UpstreamAdapter {
  readonly id = RESPONSES;
  readonly provider = 'openai';
  readonly defaultAuth = 'bearer';
  readonly verbatim = new ResponsesVerbatim();
  readonly modelListing = modelListing({ list: 'data', nameOf: idOf });

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new ResponsesDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    return jsonProbe('/responses', { model, input: 'Hi', max_output_tokens: MIN_OUTPUT_TOKENS, store: false });
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyUpstream(status, headers, body);
  }
}
