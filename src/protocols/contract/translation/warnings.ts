import type { UpstreamTarget } from '../upstream-request.js';
import type { CallContent } from './content.js';
import { AppError } from '../../../platform/shared/index.js';
import { DEFAULT_SERVICE_TIERS } from '../call.js';

/** Treatment of a part that the other protocol cannot express. */
export type WarningCode =
  | 'unsupported_parameter'
  | 'unsupported_tool'
  | 'unsupported_content'
  | 'clamped'
  | 'substituted'
  | 'thinking_on'
  | 'thinking_off'
  | 'tool_not_forced'
  | 'in_words'
  | 'schema_merged'
  | 'prefill'
  | 'user_message_inserted'
  | 'tool_result_missing'
  | 'tool_result_without_call'
  | 'invalid_arguments'
  | 'compaction_unreadable'
  | 'paused';

export const WARNING_MEANINGS: Readonly<Record<WarningCode, string>> = {
  unsupported_parameter: 'Not supported by the upstream or its model; removed.',
  unsupported_tool: 'This tool runs only at its own vendor; removed.',
  unsupported_content: 'An image, file or audio where only text is supported; removed.',
  clamped: 'Out of range for the upstream; replaced with the nearest valid value.',
  substituted: 'Not supported by the model; replaced with the nearest supported value.',
  thinking_on: 'Reasoning cannot be turned off for this model.',
  thinking_off:
    'Reasoning was turned off: the model does not support it, or not in combination with the other options.',
  tool_not_forced: 'Tool use is not forced: the model does not support it while reasoning.',
  in_words: 'The upstream does not enforce this; the model is instructed to follow it.',
  schema_merged: 'Schema alternatives at the root are merged into one schema; the rest is described to the model.',
  prefill: 'The model may start a new message instead of continuing the last assistant message.',
  user_message_inserted: 'The conversation started with the assistant; a user message was inserted first.',
  tool_result_missing: 'A tool call without a result; a placeholder result was inserted.',
  tool_result_without_call: 'A tool result without its call; sent as user text.',
  invalid_arguments: 'Response: the tool arguments are not a JSON object, or incomplete; the rest is empty.',
  compaction_unreadable: 'A compaction of another upstream, which only that upstream can read; removed.',
  paused: 'Response: the model paused. Send the response back to continue.',
};

/** A tier that every vendor charges more for. */
const HIGHER_TIER = 'priority';
/** Some proxies truncate longer header values. */
const MAX_HEADER_LENGTH = 1024;
const NOT_ASCII = /[^\x21-\x2b\x2d-\x7e]/g;

/** Parts of a request or response that a translation dropped or changed. */
export class TranslationWarnings {
  private readonly entries = new Set<string>();

  /** @param strict the key rejects calls instead of losing content */
  constructor(private readonly strict: boolean) {}

  /**
   * @param path in the client's request: `tools[2]`; if unknown, the name in most protocols: `temperature`,
   * `max_tokens`, `reasoning_effort`, `response_format`, `messages`
   * @throws AppError invalid_request naming the path, when the key is strict
   */
  warn(code: WarningCode, path: string): void {
    if (this.strict) {
      const message = `This key is strict, and ${path} cannot be translated without changes (${code}). Change the request, or turn off “Strict” for the key.`;
      throw new AppError('invalid_request', message, { param: path, fault: 'unsupported_parameter' });
    }
    this.entries.add(nameOf(code, path));
  }

  /** @param names from `names` */
  static of(names: readonly string[], strict: boolean): TranslationWarnings {
    const warnings = new TranslationWarnings(strict);
    for (const name of names) warnings.entries.add(name);
    return warnings;
  }

  get names(): readonly string[] {
    return [...this.entries];
  }

  has(code: WarningCode, path: string): boolean {
    return this.entries.has(nameOf(code, path));
  }

  /** A copy for one attempt. */
  fork(): TranslationWarnings {
    return this.continued(this.strict);
  }

  /** A copy for the response, which is paid for and never rejected. */
  forResponse(): TranslationWarnings {
    return this.continued(false);
  }

  /** For `x-relay-warnings`; undefined if empty. Truncated to fit. */
  get header(): string | undefined {
    let text = '';
    for (const name of this.entries) {
      if (text.length + name.length + 1 > MAX_HEADER_LENGTH) break;
      text += text === '' ? name : `,${name}`;
    }
    return text === '' ? undefined : text;
  }

  private continued(strict: boolean): TranslationWarnings {
    return TranslationWarnings.of(this.names, strict);
  }
}

const nameOf = (code: WarningCode, path: string): string => `${code}:${path}`.replaceAll(NOT_ASCII, '_');

/** @param path as in `TranslationWarnings.warn` */
export const unsupported = (path: string, what: string): AppError =>
  new AppError('invalid_request', `${path} ${what}.`, { param: path, fault: 'unsupported_parameter' });

export const prefillUnsupported = (): AppError =>
  unsupported('messages', 'this model does not support assistant prefill: the last message must be from the user');

export const audioUnsupported = (): AppError =>
  unsupported('messages', 'contain audio, which this model does not accept');

/** Text of the user message that a conversation begins with if its own first message is from the assistant. */
export const INSERTED_USER_TEXT = '.';

/** The member of warnings about reasoning. */
export const REASONING_EFFORT = 'reasoning_effort';

/**
 * Drops a service tier that the upstream lacks. A more expensive one may be dropped; a cheaper one would be charged at
 * more than requested.
 * @throws AppError invalid_request for any other than `priority`
 */
export function dropServiceTier(serviceTier: string | undefined, warnings: TranslationWarnings): void {
  if (serviceTier === undefined || DEFAULT_SERVICE_TIERS.includes(serviceTier)) return;
  if (serviceTier !== HIGHER_TIER)
    throw unsupported(
      'service_tier',
      `is ${JSON.stringify(serviceTier)}, which the upstream of this model does not support; omit it`,
    );
  warnings.warn('unsupported_parameter', 'service_tier');
}

/** The lowest limit of client, balance and model; undefined if neither client nor balance sets one. */
export function lowestOutputLimit(
  { outputLimit }: Pick<CallContent, 'outputLimit'>,
  target: Pick<UpstreamTarget, 'outputLimit' | 'maxOutputTokens'>,
  warnings: TranslationWarnings,
): number | undefined {
  if (outputLimit !== undefined && outputLimit > target.maxOutputTokens) warnings.warn('clamped', 'max_tokens');
  const limits = [outputLimit, target.outputLimit].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits, target.maxOutputTokens);
}
