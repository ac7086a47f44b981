import type { Tool } from './content.js';
import { RawJson } from './json-tree.js';
import { describedWith } from './tool-schema.js';

// Tools that take any text, for dialects in which every tool takes JSON: the text stands in a member `input`.

export const FREEFORM_SCHEMA = new RawJson(
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}',
);

/** The arguments that such a text makes. */
export const wrapFreeform = (input: string): string => JSON.stringify({ input });

/** The text in such arguments; they themselves when a model has forgotten to wrap it. */
export function unwrapFreeform(text: string): string {
  try {
    const value = JSON.parse(text) as { readonly input?: unknown } | null;
    return typeof value?.input === 'string' ? value.input : text;
  } catch {
    return text;
  }
}

/** The tool's description and the grammar that nothing but the description can tell now. */
export function describeFreeform({ description, freeform }: Tool): string | undefined {
  const grammar = freeform?.grammar;
  if (grammar === undefined) return description;
  const note = `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return describedWith(description, note);
}
