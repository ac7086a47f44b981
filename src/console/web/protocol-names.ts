interface ProtocolNames {
  /** `Chat` */
  readonly short: string;
  /** `Chat Completions` */
  readonly name: string;
  /** With its vendor: `OpenAI Chat Completions`. */
  readonly fullName: string;
  readonly place: number;
}

const KNOWN: Readonly<Record<string, readonly [short: string, vendor: string]>> = {
  responses: ['Responses', 'OpenAI'],
  'chat-completions': ['Chat', 'OpenAI'],
  messages: ['Messages', 'Anthropic'],
  gemini: ['Gemini', 'Google'],
  interactions: ['Interactions', 'Google'],
};

/** Other protocols come last, under their own name. */
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
