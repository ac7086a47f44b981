import { AppError } from '../../../platform/shared/index.js';
import { DEFAULT_SERVICE_TIERS } from '../call.js';

/** What can become of a part of a request, or of an answer, that the other side has no word for. */
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
  | 'paused';

/** The same for people. */
export const WARNING_MEANINGS: Readonly<Record<WarningCode, string>> = {
  unsupported_parameter: 'Not supported by the upstream or its model; removed.',
  unsupported_tool: 'This tool runs only at its own vendor; removed.',
  unsupported_content: 'An image, file or audio where only text is supported; removed.',
  clamped: 'Out of range for the upstream; replaced with the nearest valid value.',
  substituted: 'Not supported by the model; replaced with the nearest supported value.',
  thinking_on: 'Reasoning cannot be turned off for this model.',
  thinking_off: 'Reasoning is off: not supported by the model, or not with the other options.',
  tool_not_forced: 'Tool use is not forced: the model does not support it while reasoning.',
  in_words: 'Not enforced by the upstream; the model is instructed to follow it.',
  schema_merged: 'Schema alternatives at the root are merged into one schema; the rest is described to the model.',
  prefill: 'The model may start a new message instead of continuing the last assistant message.',
  user_message_inserted: 'The conversation started with the assistant; a user message was inserted first.',
  tool_result_missing: 'A tool call without a result; a placeholder result was inserted.',
  tool_result_without_call: 'A tool result without its call; sent as user text.',
  invalid_arguments: 'Response: the tool arguments are not a JSON object; replaced with an empty object.',
  paused: 'Response: the model paused. Send the response back to continue.',
};

/** A tier of which every vendor charges more than for the usual ones. */
const DEARER_TIER = 'priority';
/** Header values longer than this are cut by some proxies. */
const MAX_HEADER_LENGTH = 1024;
const NOT_ASCII = /[^\x21-\x2b\x2d-\x7e]/g;

/** What of a request, and of its answer, got lost or changed on the way into another dialect, each by a code and a path. */
export class TranslationWarnings {
  private readonly named = new Set<string>();

  /** @param strict the key wants to be refused rather than to lose anything */
  constructor(private readonly strict: boolean) {}

  /**
   * Notes that something is dropped or adjusted.
   * @param path of the member in the client's request: `tools[2]`; where it is not known any more, the name that most
   * dialects have for it: `temperature`, `max_tokens`, `reasoning_effort`,
   * `response_format`, `messages`
   * @throws AppError invalid_request naming the path, when the key is strict
   */
  warn(code: WarningCode, path: string): void {
    if (this.strict) {
      const message = `This key is strict, and ${path} cannot be translated without changes (${code}).`;
      throw new AppError('invalid_request', message, { param: path, fault: 'unsupported_parameter' });
    }
    this.named.add(nameOf(code, path));
  }

  /** As another list has them, to be continued. @param names of that list */
  static of(names: readonly string[], strict: boolean): TranslationWarnings {
    const losses = new TranslationWarnings(strict);
    for (const name of names) losses.named.add(name);
    return losses;
  }

  /** All that was noted. */
  get names(): readonly string[] {
    return [...this.named];
  }

  /** Whether that was noted. */
  has(code: WarningCode, path: string): boolean {
    return this.named.has(nameOf(code, path));
  }

  /** The same list, to be continued for one attempt. */
  fork(): TranslationWarnings {
    return this.continued(this.strict);
  }

  /** The same list, to be continued for the answer: that is paid for, and nothing of it is refused. */
  forAnswer(): TranslationWarnings {
    return this.continued(false);
  }

  /** For `x-relay-warnings`; undefined when nothing was lost. As many as there is room for. */
  get header(): string | undefined {
    let text = '';
    for (const name of this.named) {
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

/** For what no upstream of another dialect can be asked. @param path as in `Losses.warn` */
export const notTranslatable = (path: string, what: string): AppError =>
  new AppError('invalid_request', `${path} ${what}.`, { param: path, fault: 'unsupported_parameter' });

/** For a member that is not what its dialect says. */
export const malformed = (path: string, what: string): AppError =>
  new AppError('invalid_request', `${path} ${what}.`, { param: path, fault: 'invalid_value' });

/**
 * Leaves a service tier out of a request to an upstream that has none. A dearer one than the usual is no loss to its payer;
 * a cheaper one would be charged at more than was asked for.
 * @throws AppError invalid_request for any other than `priority`
 */
export function leaveTierOut(serviceTier: string | undefined, losses: TranslationWarnings): void {
  if (serviceTier === undefined || DEFAULT_SERVICE_TIERS.includes(serviceTier)) return;
  if (serviceTier !== DEARER_TIER)
    throw notTranslatable(
      'service_tier',
      `is ${JSON.stringify(serviceTier)}, which the upstream of this model does not have`,
    );
  losses.warn('unsupported_parameter', 'service_tier');
}
