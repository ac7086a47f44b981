import { Injectable } from '@nestjs/common';
import {
  type BuildContext,
  type CallContent,
  type CallResult,
  modelListing,
  smallestRequest,
  type StreamDecoder,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../contract/index.js';
import { Upstream } from '../decorators/index.js';

import type { AppError, JsonObject } from '../../platform/shared/index.js';
import { buildGeminiRequest, pathOf } from './gemini.build.js';
import { decodeGeminiResponse, GeminiDecoder } from './gemini.decoder.js';
import { classifyGeminiError } from './gemini.errors.js';

/** Google's `generateContent`, as the Gemini API and Vertex AI speak it. No client does, here: every call is translated. */
@Injectable()
@Upstream()
export class GeminiUpstream implements UpstreamAdapter {
  readonly id = 'gemini';
  readonly provider = 'gcp.gemini';
  readonly usualAuth = 'x-goog-api-key';
  readonly modelListing = modelListing({ query: 'pageSize=1000', list: 'models', nameOf: nameOfListed });

  buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
    return buildGeminiRequest(context, target);
  }

  decodeResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
    return decodeGeminiResponse(body, content, target);
  }

  decodeStream(content: CallContent, target: UpstreamTarget): StreamDecoder {
    return new GeminiDecoder(content, target);
  }

  smallestRequest(model: string): UpstreamRequest {
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    return smallestRequest(pathOf(model, false), { contents, generationConfig: { maxOutputTokens: 1 } });
  }

  classifyError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
    return classifyGeminiError(status, headers, body);
  }
}

/** `models/gemini-x` by the name that calls have; of other kinds, such as embeddings, none. */
function nameOfListed({ name, supportedGenerationMethods: methods }: JsonObject): string | undefined {
  const answers = !Array.isArray(methods) || methods.includes('generateContent');
  return typeof name === 'string' && answers ? name.replace(/^models\//, '') : undefined;
}
