import type { ClientDouble } from '../../client-double.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { expectGeminiFailure, expectGeminiStream } from './grammar.js';
import { geminiRequest } from './requests.js';
import { foldedResponse, readGeminiResponse } from './responses.js';
import { readEvents, withoutKeepAlives } from '../../../support/stream-text.js';

const METHODS = { stream: 'streamGenerateContent', whole: 'generateContent' } as const;

export const geminiClient: ClientDouble = {
  id: 'gemini',
  path: `/v1beta/models/{model}:${METHODS.whole}`,
  address: (model, stream) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${METHODS[stream ? 'stream' : 'whole']}`,
    query: stream ? 'alt=sse' : '',
  }),
  lacks: { 'one call at a time': 'whether calls come one by one is the model’s to decide' },
  request: geminiRequest,
  wantsReasoning: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  returnsSealedReasoning: true,
  readResponse: readGeminiResponse,
  readStream(stream) {
    expectGeminiStream(readEvents(withoutKeepAlives(stream)));
    return readGeminiResponse(foldedResponse(stream));
  },
  expectFailure: expectGeminiFailure,
  continued(request, response, callId) {
    const whole = response.startsWith('{') ? (JSON.parse(response) as JsonObject) : foldedResponse(response);
    const [candidate] = whole['candidates'] as readonly JsonObject[];
    const { parts } = candidate!['content'] as { readonly parts: readonly JsonObject[] };
    const called = parts.map(({ functionCall }) => functionCall as JsonObject | undefined);
    const name = called.find((call) => call?.['id'] === callId)?.['name'];
    const result = { functionResponse: { id: callId, name, response: { output: 'Snow.' } } };
    // Agents leave readable reasoning and empty parts out.
    const kept = parts.filter(
      ({ thought, text, thoughtSignature }) => thought !== true && (text !== '' || thoughtSignature !== undefined),
    );
    const said = [
      { role: 'model', parts: kept },
      { role: 'user', parts: [result] },
    ];
    return { ...request, contents: [...(request['contents'] as JsonObject[]), ...said] };
  },
};
