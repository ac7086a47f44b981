// Where the words of a model stand in what a dialect sends: said as data, because they are read in a thread of its own.

/** Of a request: what the model reads. */
export interface PromptPlaces {
  /** Members at the top that are the conversation: each a text, or a list of messages. */
  readonly conversation: readonly string[];
  /** Members at the top that describe tools and forms of answers: what they name is read as well. */
  readonly definitions: readonly string[];
  /** Members within messages that are no words: ids, kinds, addresses, what is encrypted. */
  readonly silent: readonly string[];
  /** Members within messages that are read through and through, names included: the arguments of a tool. */
  readonly whole: readonly string[];
}

/** Of an answer: what the model wrote. */
export interface ResponsePlaces {
  /** The members at the top of a whole answer that are the model's. */
  readonly within: readonly string[];
  /** Members at any depth, those included, whose strings it wrote. */
  readonly texts: readonly string[];
}

export interface TextPlaces {
  readonly prompt: PromptPlaces;
  readonly answer: ResponsePlaces;
}
