import { IsIn, IsNotEmpty, IsString } from 'class-validator';
import { countOf, type Form, type FormBody, IsCount, Trimmed } from '../../web/index.js';

const MOST_TOKENS = 100_000_000;

const Tokens = (message: string): PropertyDecorator => IsCount({ message, least: 1, most: MOST_TOKENS });

/** The call that an operator thinks of, as typed; each field is always there. */
export class RoutingForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter the e-mail address of the user who would call.' })
  readonly user: string = '';

  /** The id of one of their keys; empty: a new one. */
  @IsString({ message: 'Choose a key.' })
  readonly key: string = '';

  @IsNotEmpty({ message: 'Choose a model.' })
  readonly model: string = '';

  @IsNotEmpty({ message: 'Choose the dialect of the client.' })
  readonly protocol: string = '';

  /** Empty: not said. */
  @IsString({ message: 'Choose an effort.' })
  readonly effort: string = '';

  @Tokens('Enter a whole number of tokens, such as 1,000, or leave it empty for 1,000.')
  readonly prompt: string = '';

  @Tokens('Enter a whole number of tokens, or leave it empty where the client sets no limit.')
  readonly output: string = '';

  @IsIn(['yes', ''], { message: 'Tick the box or leave it empty.' })
  readonly stream: string = '';
}

/** What is asked when the field is left empty. */
const USUAL_PROMPT_TOKENS = 1000;

/** Tokens of the prompt that is thought of. */
export const promptTokensOf = ({ prompt }: RoutingForm): number => countOf(prompt) ?? USUAL_PROMPT_TOKENS;

/** What of an address belongs to the form: the address may carry more, and each field once. */
export const typedIn = (parts: Readonly<Record<string, unknown>>): FormBody =>
  Object.fromEntries(
    Object.keys(new RoutingForm()).flatMap((name) => {
      const value = parts[name];
      return typeof value === 'string' ? [[name, value.replaceAll('\0', '')]] : [];
    }),
  );

export type TypedRouting = Form<RoutingForm>;
