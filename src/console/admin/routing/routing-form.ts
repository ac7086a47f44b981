import { IsIn, IsNotEmpty, IsString } from 'class-validator';
import { countOf, type Form, type FormBody, IsCount, Trimmed } from '../../web/index.js';

const MAX_TOKENS = 100_000_000;

const Tokens = (message: string): PropertyDecorator => IsCount({ message, least: 1, most: MAX_TOKENS });

/** The simulated call, as typed; no field is ever undefined. */
export class RoutingForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter the user’s email address.' })
  readonly user: string = '';

  /** The id of one of the user’s keys; empty: a new one. */
  @IsString({ message: 'Choose an API key.' })
  readonly key: string = '';

  @IsNotEmpty({ message: 'Choose a model.' })
  readonly model: string = '';

  @IsNotEmpty({ message: 'Choose the client protocol.' })
  readonly protocol: string = '';

  /** Empty: not set. */
  @IsString({ message: 'Choose an effort.' })
  readonly effort: string = '';

  @Tokens('Enter a whole number of tokens, or leave empty for 1,000.')
  readonly prompt: string = '';

  @Tokens('Enter a whole number of tokens, or leave empty if the client sets no limit.')
  readonly output: string = '';

  @IsIn(['yes', ''], { message: 'Select or clear the checkbox.' })
  readonly stream: string = '';
}

/** Used if the field is empty. */
const DEFAULT_PROMPT_TOKENS = 1000;

export const promptTokensOf = ({ prompt }: RoutingForm): number => countOf(prompt) ?? DEFAULT_PROMPT_TOKENS;

/** The form fields in a query string; others and repeated ones are ignored. */
export const typedIn = (parts: Readonly<Record<string, unknown>>): FormBody =>
  Object.fromEntries(
    Object.keys(new RoutingForm()).flatMap((name) => {
      const value = parts[name];
      return typeof value === 'string' ? [[name, value.replaceAll('\0', '')]] : [];
    }),
  );

export type TypedRouting = Form<RoutingForm>;
