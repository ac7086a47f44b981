import type { NeutralRequest, NeutralTurn } from '../../../support/neutral-request.js';
import type { JsonObject } from '../../../support/scripted-steps.js';

export interface Content {
  readonly role: string;
  readonly parts: readonly Part[];
}

interface Blob {
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
}

export interface Part extends Blob {
  readonly text?: string;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: JsonObject };
  readonly functionResponse?: {
    readonly id: string;
    readonly name: string;
    readonly response: JsonObject;
    readonly parts?: readonly Blob[];
  };
}

interface Request {
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly contents: readonly Content[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly JsonObject[] }[];
  readonly toolConfig?: {
    readonly functionCallingConfig: { readonly mode: string; readonly allowedFunctionNames?: readonly string[] };
  };
  readonly generationConfig?: { readonly responseJsonSchema?: JsonObject; readonly maxOutputTokens?: number };
}

const CHOICES: Readonly<Record<string, string>> = { AUTO: 'auto', ANY: 'required', NONE: 'none' };

const MODES = { auto: 'AUTO', required: 'ANY', none: 'NONE' } as const;

/** `POST /v1beta/models/{model}:generateContent`. */
export function geminiRequest(requested: NeutralRequest): JsonObject {
  const { system, turns, tools, toolChoice, schema, outputLimit, stop } = requested;
  const calling =
    typeof toolChoice === 'object'
      ? { mode: 'ANY', allowedFunctionNames: [toolChoice.name] }
      : toolChoice && { mode: MODES[toolChoice] };
  const config = {
    ...(outputLimit !== undefined && { maxOutputTokens: outputLimit }),
    ...(stop && { stopSequences: stop }),
    ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
  };
  return {
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: contentsOf(turns),
    ...(tools && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, schema: parametersJsonSchema }) => ({
            name,
            description,
            parametersJsonSchema,
          })),
        },
      ],
    }),
    ...(calling && { toolConfig: { functionCallingConfig: calling } }),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  };
}

/** Results and following user content are one content. */
function contentsOf(turns: readonly NeutralTurn[]): JsonObject[] {
  const names = new Map(
    turns.flatMap((turn) => (turn.by === 'assistant' ? (turn.calls ?? []).map(({ id, name }) => [id, name]) : [])) as [
      string,
      string,
    ][],
  );
  const contents: { readonly role: string; readonly parts: JsonObject[] }[] = [];
  for (const turn of turns) {
    const role = turn.by === 'assistant' ? 'model' : 'user';
    const last = contents.at(-1);
    const parts = partsOf(turn, names);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  return contents;
}

function partsOf(turn: NeutralTurn, names: ReadonlyMap<string, string>): JsonObject[] {
  const said: JsonObject[] = turn.text === undefined || turn.text === '' ? [] : [{ text: turn.text }];
  if (turn.by === 'assistant')
    return [
      ...said,
      ...(turn.calls ?? []).map(({ id, name, arguments: json }) => ({
        functionCall: { id, name, args: JSON.parse(json) as JsonObject },
      })),
    ];
  const images = turn.image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: turn.image } }];
  if (turn.by === 'user') return [...said, ...images];
  const { id, text } = turn;
  const result = { id, name: names.get(id), response: { output: text }, ...(images.length > 0 && { parts: images }) };
  return [{ functionResponse: result }];
}

/** Parallel calls cannot be disabled. */
export function readGeminiRequest(body: JsonObject): object {
  const { systemInstruction, contents, tools, toolConfig, generationConfig } = body as unknown as Request;
  const { mode = 'AUTO', allowedFunctionNames } = toolConfig?.functionCallingConfig ?? {};
  const [name] = allowedFunctionNames ?? [];
  const declared = tools?.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  return {
    system: systemInstruction && systemInstruction.parts.map(({ text }) => text).join('\n'),
    turns: contents.flatMap(turnsOf),
    tools: declared?.map((tool) => ({
      name: tool['name'],
      description: tool['description'],
      schema: tool['parametersJsonSchema'],
    })),
    toolChoice: declared && (name === undefined ? CHOICES[mode] : { name }),
    schema: generationConfig?.responseJsonSchema,
    outputLimit: generationConfig?.maxOutputTokens,
  };
}

function turnsOf({ role, parts }: Content): object[] {
  const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
  const rest = parts.filter(({ functionCall, functionResponse }) => !functionCall && !functionResponse);
  const said = { text: textIn(rest), image: imageIn(rest) };
  return [
    ...results.map(({ id, response, parts: shown = [] }) => ({
      by: 'tool',
      id,
      text: (response['output'] ?? response['error'] ?? JSON.stringify(response)) as string,
      image: imageIn(shown),
    })),
    ...(rest.length + calls.length > 0
      ? [
          {
            by: role === 'model' ? 'assistant' : role,
            ...said,
            ...(calls.length > 0 && {
              calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: JSON.stringify(call.args) })),
            }),
          },
        ]
      : []),
  ];
}

const textIn = (parts: readonly Part[]): string | undefined => parts.map(({ text = '' }) => text).join('') || undefined;

const imageIn = (parts: readonly Blob[]): string | undefined =>
  parts.flatMap(({ inlineData }) => inlineData?.data ?? [])[0];
