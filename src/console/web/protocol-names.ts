/** What people call a dialect. */
export interface ProtocolNames {
  /** In a list: `Chat`. */
  readonly short: string;
  /** `Chat Completions` */
  readonly name: string;
  /** With whose it is, as clients say it: `OpenAI Chat Completions`. */
  readonly fullName: string;
  /** Where it stands among the others. */
  readonly place: number;
}

/** In the order that pages show them. */
const KNOWN: Readonly<Record<string, readonly [short: string, vendor: string]>> = {
  responses: ['Responses', 'OpenAI'],
  'chat-completions': ['Chat', 'OpenAI'],
  messages: ['Messages', 'Anthropic'],
};

/** One that is added comes behind, under its own name alone. */
export function protocolNames(id: string): ProtocolNames {
  const name = titled(id);
  const [short, ...vendor] = KNOWN[id] ?? [name];
  const place = Object.keys(KNOWN).indexOf(id);
  return { short, name, fullName: [...vendor, name].join(' '), place: place < 0 ? Infinity : place };
}

const titled = (id: string): string =>
  id
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
