/**
 * Rules that the newest models enforce: https://ai.google.dev/api/generate-content, /gemini-api/docs/function-calling
 * and /gemini-api/docs/thought-signatures.
 */

import type { JsonObject } from '../../../support/scripted-steps.js';
import type { Content, Part } from './requests.js';

const MEMBERS = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'];
/** Without sampling, which models reject from 3.6 on. */
const CONFIG_MEMBERS = [
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'responseMimeType',
  'responseJsonSchema',
  'thinkingConfig',
];
const DATA_MEMBERS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];
const MAX_STOPS = 5;
const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;

export function expectGeminiRules(request: JsonObject): void {
  // Unknown members are rejected.
  expect(MEMBERS).toEqual(expect.arrayContaining(Object.keys(request)));
  const contents = request['contents'] as readonly Content[];
  expectTurns(contents);
  expectResults(contents);
  expectSignatures(contents);
  const names = expectTools(request['tools'] as Tools | undefined);
  expectChoice(request['toolConfig'] as ToolConfig | undefined, names);
  expectConfig((request['generationConfig'] as JsonObject | undefined) ?? {});
}

/** Roles alternate, with the user first and last; each part has one kind. */
function expectTurns(contents: readonly Content[]): void {
  const roles = contents.map(({ role }) => role);
  expect(roles).toEqual(roles.map((_, index) => (index % 2 === 0 ? 'user' : 'model')));
  expect(roles.at(-1)).toBe('user');
  for (const { parts } of contents) {
    expect(parts).not.toHaveLength(0);
    for (const part of parts) {
      expect(Object.keys(part).filter((name) => DATA_MEMBERS.includes(name))).toHaveLength(1);
      if (part.thoughtSignature === undefined) expect(part.text).not.toBe('');
    }
  }
}

/** Results directly follow their calls, with IDs and names. */
function expectResults(contents: readonly Content[]): void {
  let open: string[] = [];
  for (const { role, parts } of contents) {
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    expect([role === 'user' && calls.length > 0, role === 'model' && results.length > 0]).toEqual([false, false]);
    if (role === 'user') {
      expect(results.map(keyOf).toSorted()).toEqual(open.toSorted());
      expect(parts.slice(0, results.length).every(({ functionResponse }) => functionResponse)).toBe(true);
    }
    open = calls.map(keyOf);
    for (const { args } of calls) expectObject(args);
    for (const { response } of results) expectObject(response);
  }
}

const keyOf = ({ id, name }: { readonly id: string; readonly name: string }): string => `${id} ${name}`;

function expectObject(value: unknown): void {
  expect([typeof value, value === null, Array.isArray(value)]).toEqual(['object', false, false]);
}

/** Since the last user text, the first call of each turn is signed. */
function expectSignatures(contents: readonly Content[]): void {
  const start = contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some(isSaid));
  for (const { parts } of contents.slice(start)) {
    const first = parts.find(({ functionCall }) => functionCall);
    if (first !== undefined) expect(first.thoughtSignature).toEqual(expect.any(String));
  }
}

const isSaid = ({ functionResponse }: Part): boolean => functionResponse === undefined;

type Tools = readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];

function expectTools(tools: Tools = []): string[] {
  const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations).map(({ name }) => name);
  for (const name of names) expect(name).toMatch(FUNCTION_NAME);
  expect(new Set(names).size).toBe(names.length);
  return names;
}

interface ToolConfig {
  readonly functionCallingConfig: { readonly mode: string; readonly allowedFunctionNames?: readonly string[] };
}

function expectChoice(config: ToolConfig | undefined, names: readonly string[]): void {
  if (config === undefined) return;
  const { mode, allowedFunctionNames } = config.functionCallingConfig;
  expect(['AUTO', 'ANY', 'NONE']).toContain(mode);
  if (allowedFunctionNames === undefined) return;
  expect(mode).toBe('ANY');
  expect(names).toEqual(expect.arrayContaining([...allowedFunctionNames]));
}

function expectConfig(config: JsonObject): void {
  expect(CONFIG_MEMBERS).toEqual(expect.arrayContaining(Object.keys(config)));
  expect(((config['stopSequences'] ?? []) as string[]).length).toBeLessThanOrEqual(MAX_STOPS);
  if (config['responseJsonSchema'] !== undefined) expect(config['responseMimeType']).toBe('application/json');
  const thinking = (config['thinkingConfig'] ?? {}) as JsonObject;
  expect(Object.keys(thinking)).not.toEqual(expect.arrayContaining(['thinkingLevel', 'thinkingBudget']));
}
