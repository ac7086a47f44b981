import {
  type MemberRule,
  type MemberTable,
  plainMembers,
  refusedMember,
  scopedIn,
  type ScopedKind,
} from '../contract/index.js';
import { spellings } from './wire.js';

const STORED = 'it reads data of the upstream account';

const allSpellings = <Rule>(rules: Readonly<Record<string, Rule>>): Readonly<Record<string, Rule>> =>
  Object.fromEntries(Object.entries(rules).flatMap(([path, rule]) => spellings(path).map((name) => [name, rule])));

const TOOLS: MemberRule = {
  is: 'named_tools',
  tools: allSpellings({
    functionDeclarations: { runs: 'client' },
    computerUse: { runs: 'client' },
    googleSearch: { runs: 'hosted', name: 'web_search' },
    googleSearchRetrieval: { runs: 'hosted', name: 'web_search' },
    enterpriseWebSearch: { runs: 'hosted', name: 'web_search' },
    googleMaps: { runs: 'hosted', name: 'google_maps' },
    urlContext: { runs: 'hosted', name: 'web_fetch' },
    codeExecution: { runs: 'hosted', name: 'code_execution' },
    mcpServers: { runs: 'hosted', name: 'mcp' },
    fileSearch: { runs: 'refused', why: STORED },
    retrieval: { runs: 'refused', why: STORED },
    exaAiSearch: { runs: 'refused', why: 'it is billed by another vendor' },
    parallelAiSearch: { runs: 'refused', why: 'it is billed by another vendor' },
  }),
};

/** Values of `responseModalities` whose output tokens have a price of their own. */
const PRICED_OUTPUT = /^(?:text|audio)$/i;

const REQUEST: Readonly<Record<string, MemberRule>> = {
  ...plainMembers('model contents systemInstruction toolConfig safetySettings serviceTier labels generationConfig'),
  ...plainMembers('generationConfig.temperature generationConfig.topP generationConfig.topK generationConfig.seed'),
  ...plainMembers('generationConfig.candidateCount generationConfig.maxOutputTokens generationConfig.stopSequences'),
  ...plainMembers('generationConfig.responseLogprobs generationConfig.logprobs generationConfig.presencePenalty'),
  ...plainMembers('generationConfig.frequencyPenalty generationConfig.responseMimeType generationConfig.imageConfig'),
  ...plainMembers('generationConfig.responseSchema generationConfig.responseJsonSchema generationConfig.speechConfig'),
  ...plainMembers('generationConfig._responseJsonSchema'),
  ...plainMembers('generationConfig.mediaResolution generationConfig.audioTimestamp generationConfig.thinkingConfig'),
  ...plainMembers('generationConfig.enableEnhancedCivicAnswers generationConfig.audioTranscriptionConfig'),
  ...plainMembers('generationConfig.thinkingConfig.includeThoughts generationConfig.thinkingConfig.thinkingBudget'),
  ...plainMembers('generationConfig.thinkingConfig.thinkingLevel'),
  'generationConfig.responseModalities': {
    is: 'refused',
    why: 'only text and audio output have prices',
    when: (value) => !Array.isArray(value) || value.some((modality) => !PRICED_OUTPUT.test(String(modality))),
  },
  'generationConfig.routingConfig': refusedMember('administrators choose models'),
  'generationConfig.modelSelectionConfig': refusedMember('administrators choose models'),
  tools: TOOLS,
  cachedContent: { is: 'scoped', idsIn: (value) => scopedIn('cached_content', value) },
  continuationToken: refusedMember('it continues a response of the upstream account'),
};

/** Public addresses are no state; the Files API and Cloud Storage are. */
const PUBLIC = /^https?:\/\/(?![^/]*\bgoogleapis\.com\b)/i;
const fileOf = (uri: string): ScopedKind | undefined => (PUBLIC.test(uri) ? undefined : 'file');

const COMMON: Omit<MemberTable, 'members'> = {
  source: { package: '@google/genai', version: '3.3.0' },
  tools: [],
  stateMembers: { file_uri: fileOf },
};

/** All members of a `generateContent` request, from the vendor's SDK, with their effects. */
export const GEMINI_MEMBERS: MemberTable = { ...COMMON, members: allSpellings(REQUEST) };

const COUNTED = 'generateContentRequest';

/** The same of `countTokens`, which accepts contents or a whole request. */
export const COUNT_MEMBERS: MemberTable = {
  ...COMMON,
  members: allSpellings({
    ...plainMembers(`model contents ${COUNTED}`),
    ...Object.fromEntries(Object.entries(REQUEST).map(([path, rule]) => [`${COUNTED}.${path}`, rule])),
  }),
};
