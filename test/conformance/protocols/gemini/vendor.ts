import type { VendorDouble } from '../../vendor-double.js';
import { geminiBody, geminiEvents, THOUGHT_SIGNATURE } from './answers.js';
import { type Content, readGeminiRequest } from './requests.js';
import { expectGeminiRules } from './rules.js';

/** Google's names of HTTP statuses. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const errorBody = (code: number, message: string) => ({
  error: { code, message, status: STATUSES[code] ?? 'UNKNOWN' },
});

/** Of all APIs with the same models. */
export const commonOfGoogle = {
  flags: { reasoning: true, samplingFixed: true, prefill: false, resultMedia: true, hostedWebSearch: true },
  lacks: { 'one call at a time': 'whether calls come one by one is the model’s to decide' },
  listing: {
    // Otherwise only the first fifty models are listed.
    expectRequest({ path, query }) {
      expect([path, Number(query.get('pageSize'))]).toEqual(['/models', 1000]);
    },
    body: (names) => ({
      models: [
        ...names.map((name) => ({
          name: `models/${name}`,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        })),
        { name: 'models/vendor-embedding', supportedGenerationMethods: ['embedContent'] },
      ],
    }),
  },
} satisfies Partial<VendorDouble>;

export const TOO_LONG_MESSAGE =
  'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).';

/** The Gemini API with a model that reasons by levels, signs its calls and rejects sampling. */
export const geminiVendor: VendorDouble = {
  id: 'gemini',
  ...commonOfGoogle,
  isCall: ({ path }) => /:(?:generateContent|streamGenerateContent)$/.test(path),
  wantsStream: ({ path, query }) => path.endsWith(':streamGenerateContent') && query.get('alt') === 'sse',
  modelOf: ({ path }) => /\/models\/([^/:]+):/.exec(path)?.[1],
  headers: { 'x-gemini-service-tier': 'standard' },
  events: geminiEvents,
  body: geminiBody,
  errorBody,
  tooLong: { status: 400, body: errorBody(400, TOO_LONG_MESSAGE) },
  errorEvents: (message) => [{ data: errorBody(500, message) }],
  closes: /"finishReason":"/,
  readRequest: readGeminiRequest,
  expectRequest: expectGeminiRules,
  reasoningMark: THOUGHT_SIGNATURE,
  /** On the same call, without the reasoning text. */
  expectReasoning(request) {
    const { parts } = (request['contents'] as readonly Content[])[1]!;
    expect(parts).toEqual([expect.objectContaining({ thoughtSignature: THOUGHT_SIGNATURE })]);
    expect(parts[0]).toHaveProperty('functionCall');
  },
};
