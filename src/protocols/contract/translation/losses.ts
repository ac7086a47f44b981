import { AppError } from '../../../platform/shared/index.js';
import { USUAL_SERVICE_TIERS } from '../call.js';

/** What can become of a part of a request, or of an answer, that the other side has no word for. */
export type LossCode =
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
export const LOSS_MEANINGS: Readonly<Record<LossCode, string>> = {
  unsupported_parameter: 'The upstream, or its model, does not take it: it is left out.',
  unsupported_tool: 'Only its own vendor runs this tool: it is left out.',
  unsupported_content: 'An image, a file or sound where upstreams take nothing but text: it is left out.',
  clamped: 'The upstream does not take so much, or so little: it gets the nearest value.',
  substituted: 'The model does not know it: it gets what comes nearest of what it knows.',
  thinking_on: 'The model thinks all the same: it cannot be told not to.',
  thinking_off: 'The model does not think: it cannot, or not together with what else is asked for.',
  tool_not_forced: 'The model is free to call a tool or not: while it thinks it cannot be made to.',
  in_words: 'The upstream cannot be held to it: the model is asked for it in words.',
  schema_merged: 'A choice of schemas at the root: the tool has one with the members of all, and words tell the rest.',
  prefill: 'The assistant’s message at the end: the model may begin a new one instead of going on with it.',
  user_message_inserted: 'The assistant began the conversation: a message of the user stands before it.',
  tool_result_missing: 'A call of a tool had no result: one stands there that says so.',
  tool_result_without_call: 'The call of this result is not there: the result stands in the user’s words.',
  invalid_arguments:
    'Of an answer: the arguments that the model wrote are no JSON object. An empty one is in their place.',
  paused: 'Of an answer: the model has more to say. Send the answer back, and it goes on.',
};

/** A tier of which every vendor charges more than for the usual ones. */
const DEARER_TIER = 'priority';
/** Header values longer than this are cut by some proxies. */
const MAX_HEADER_LENGTH = 1024;
const NOT_ASCII = /[^\x21-\x2b\x2d-\x7e]/g;

/** What of a request, and of its answer, got lost or changed on the way into another dialect, each by a code and a path. */
export class Losses {
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
  warn(code: LossCode, path: string): void {
    if (this.strict) {
      const message = `This key is strict, and ${path} cannot be carried over to the upstream as it is (${code}).`;
      throw new AppError('invalid_request', message, { param: path, fault: 'unsupported_parameter' });
    }
    this.named.add(nameOf(code, path));
  }

  /** As another list has them, to be continued. @param names of that list */
  static of(names: readonly string[], strict: boolean): Losses {
    const losses = new Losses(strict);
    for (const name of names) losses.named.add(name);
    return losses;
  }

  /** All that was noted. */
  get names(): readonly string[] {
    return [...this.named];
  }

  /** Whether that was noted. */
  has(code: LossCode, path: string): boolean {
    return this.named.has(nameOf(code, path));
  }

  /** The same list, to be continued for one attempt. */
  fork(): Losses {
    return this.continued(this.strict);
  }

  /** The same list, to be continued for the answer: that is paid for, and nothing of it is refused. */
  forAnswer(): Losses {
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

  private continued(strict: boolean): Losses {
    return Losses.of(this.names, strict);
  }
}

const nameOf = (code: LossCode, path: string): string => `${code}:${path}`.replaceAll(NOT_ASCII, '_');

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
export function leaveTierOut(serviceTier: string | undefined, losses: Losses): void {
  if (serviceTier === undefined || USUAL_SERVICE_TIERS.includes(serviceTier)) return;
  if (serviceTier !== DEARER_TIER)
    throw notTranslatable(
      'service_tier',
      `is ${JSON.stringify(serviceTier)}, which the upstream of this model does not have`,
    );
  losses.warn('unsupported_parameter', 'service_tier');
}
