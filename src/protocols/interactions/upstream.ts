import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  classifyGoogleError,
  jsonProbe,
  modelListing,
  type StreamDecoder,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { Upstream } from '../decorators/index.js';
import { buildInteractionsRequest, PATH } from './build.js';
import { decodeInteractionsResponse, InteractionsDecoder } from './decoder.js';

/** The Interactions API of Google's Gemini API. Upstream only: its clients would need interactions stored here. */
@Injectable()
@Upstream()
export class InteractionsUpstream implements UpstreamAdapter {
  /** In channels and in the usage log. */
  readonly id = 'interactions';
  readonly provider = 'gcp.gemini';
  readonly defaultAuth = 'x-goog-api-key';
  readonly modelListing = modelListing({ query: 'pageSize=1000', list: 'models', nameOf: nameOfListed });
  readonly buildRequest = buildInteractionsRequest;
  readonly decodeResponse = decodeInteractionsResponse;
  readonly classifyError = classifyGoogleError;

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new InteractionsDecoder(content, target);
  }

  probeRequest(model: string): UpstreamRequest {
    const input = [{ type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }];
    return jsonProbe(PATH, { model, input, generation_config: { max_output_tokens: 1 }, store: false });
  }
}

/** Methods of models that respond with text; embeddings have others. */
const METHODS = /^generateContent$|interaction/i;

/** `models/gemini-x` as in calls; undefined for other kinds. */
function nameOfListed({ name, supportedGenerationMethods: methods }: JsonObject): string | undefined {
  const responds = !Array.isArray(methods) || methods.some((method) => METHODS.test(String(method)));
  return typeof name === 'string' && responds ? name.replace(/^models\//, '') : undefined;
}
