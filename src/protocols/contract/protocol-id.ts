/** The id of a registered adapter: `responses`, `chat-completions`, `messages`, or whatever else is added. */
export type ProtocolId = string;
