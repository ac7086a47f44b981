/**
 * Rules of the Interactions API: https://ai.google.dev/api/interactions-api, /gemini-api/docs/interactions,
 * /gemini-api/docs/thought-signatures and /gemini-api/docs/api-errors.
 */

import type { JsonObject } from '../../../support/scripted-steps.js';
import { type Content, requestIn, type Step, type ToolChoice } from './requests.js';

const MEMBERS = [
  'model',
  'input',
  'system_instruction',
  'tools',
  'response_format',
  'generation_config',
  'service_tier',
  'store',
  'stream',
];
/** Without sampling, which models reject from 3.6 on. */
const CONFIG_MEMBERS = [
  'max_output_tokens',
  'seed',
  'stop_sequences',
  'thinking_level',
  'thinking_summaries',
  'tool_choice',
];
const LEVELS = ['minimal', 'low', 'medium', 'high', 'xhigh'];
const MAX_STOPS = 5;
const MAX_SEED = 2 ** 31;
const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const TEXT = expect.stringMatching(/./s) as unknown;
const ANY_STRING = expect.any(String) as unknown;

export function expectInteractionsRules(request: JsonObject): void {
  // Unknown members are rejected.
  expect(MEMBERS).toEqual(expect.arrayContaining(Object.keys(request)));
  // Responses are stored by default.
  expect(request['store']).toBe(false);
  expect(request['model']).toEqual(TEXT);
  expect(['flex', 'standard', 'priority', undefined]).toContain(request['service_tier']);
  const { input, system_instruction: system = 'none', response_format: format } = requestIn(request);
  expect(system).toEqual(TEXT);
  expectSteps(input);
  expectResults(input);
  expectSignatures(input);
  const names = expectTools(request['tools'] as readonly JsonObject[] | undefined);
  expectConfig((request['generation_config'] as JsonObject | undefined) ?? {}, names);
  if (format !== undefined) {
    const { schema, ...others } = format;
    expect(others).toEqual({ type: 'text', mime_type: 'application/json' });
    expect(['object', 'undefined']).toContain(typeof schema);
  }
}

/** The user is first and last. */
function expectSteps(steps: readonly Step[]): void {
  expect(steps[0]?.type).toBe('user_input');
  expect(['user_input', 'function_result']).toContain(steps.at(-1)?.type);
  for (const step of steps) expectStep(step);
}

function expectStep(step: Step): void {
  switch (step.type) {
    case 'user_input':
    case 'model_output':
      expect(Object.keys(step).toSorted()).toEqual(['content', 'type']);
      expectContents(step.content);
      return;
    case 'thought':
      expect(step).toEqual({ type: 'thought', signature: TEXT, ...(step.summary && { summary: step.summary }) });
      if (step.summary !== undefined) expectContents(step.summary);
      return;
    case 'function_call':
      expect(step).toEqual({ type: 'function_call', id: TEXT, name: TEXT, arguments: expect.any(Object) as unknown });
      expect(Array.isArray(step.arguments)).toBe(false);
      return;
    case 'function_result':
      expect(step).toEqual({
        type: 'function_result',
        call_id: TEXT,
        name: TEXT,
        result: step.result,
        ...('is_error' in step && { is_error: true }),
      });
      if (typeof step.result !== 'string') expectContents(step.result);
      return;
    default:
      throw new Error(`The value '${step.type}' is not supported for 'type'.`);
  }
}

function expectContents(contents: readonly Content[] | undefined): void {
  expect(contents?.length).toBeGreaterThan(0);
  for (const content of contents ?? []) {
    if (content.type === 'text') expect(content).toEqual({ type: 'text', text: TEXT });
    else {
      expect(['image', 'audio', 'document', 'video']).toContain(content.type);
      const { type, uri, ...inline } = content;
      if (uri === undefined) expect(inline).toEqual({ data: ANY_STRING, mime_type: expect.stringContaining('/') });
      else expect(content).toEqual({ type, uri, ...(inline.mime_type && { mime_type: TEXT }) });
    }
  }
}

/** All calls are answered, by ID and name, before anything else comes. */
function expectResults(steps: readonly Step[]): void {
  const open = new Set<string>();
  let isAnswering = false;
  for (const { type, id, call_id, name } of steps) {
    if (type === 'function_result') {
      expect(open.delete(`${call_id} ${name}`)).toBe(true);
      isAnswering = open.size > 0;
      continue;
    }
    expect(isAnswering).toBe(false);
    if (type === 'user_input') expect([...open]).toEqual([]);
    if (type === 'function_call') open.add(`${id} ${name}`);
  }
  expect([...open]).toEqual([]);
}

/** Since the last input of the user, a thought with a signature comes before the first call of each turn. */
function expectSignatures(steps: readonly Step[]): void {
  let isSigned = false;
  for (const { type } of steps.slice(steps.findLastIndex((step) => step.type === 'user_input'))) {
    if (type === 'thought') isSigned = true;
    if (type === 'function_result') isSigned = false;
    if (type === 'function_call') expect(isSigned).toBe(true);
  }
}

function expectTools(tools: readonly JsonObject[] = []): string[] {
  const functions = tools.filter(({ type }) => type === 'function');
  for (const tool of tools) if (tool['type'] !== 'function') expect(tool).toEqual({ type: 'google_search' });
  const names = functions.map(({ name }) => name as string);
  for (const { name, parameters, ...rest } of functions) {
    expect(name).toMatch(FUNCTION_NAME);
    expect(parameters).toMatchObject({ type: 'object' });
    expect(['type', 'description']).toEqual(expect.arrayContaining(Object.keys(rest)));
  }
  expect(new Set(names).size).toBe(names.length);
  return names;
}

function expectConfig(config: JsonObject, names: readonly string[]): void {
  expect(CONFIG_MEMBERS).toEqual(expect.arrayContaining(Object.keys(config)));
  const { stop_sequences: stops = [], seed = 0, thinking_level: level = 'low', thinking_summaries: shown } = config;
  expect((stops as string[]).length).toBeLessThanOrEqual(MAX_STOPS);
  expect(Math.abs(seed as number)).toBeLessThanOrEqual(MAX_SEED);
  expect(LEVELS).toContain(level);
  expect(['auto', 'none', undefined]).toContain(shown);
  expectChoice(config['tool_choice'] as ToolChoice | undefined, names);
}

function expectChoice(choice: ToolChoice | undefined, names: readonly string[]): void {
  if (choice === undefined) return;
  // `Function calling config is set without function_declarations.`
  expect(names).not.toHaveLength(0);
  if (typeof choice === 'string') expect(['auto', 'any', 'none', 'validated']).toContain(choice);
  else {
    const { mode, tools } = choice.allowed_tools;
    expect(['any', 'validated']).toContain(mode);
    expect(names).toEqual(expect.arrayContaining([...tools]));
  }
}
