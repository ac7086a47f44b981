/** An instruction in the midst of a conversation, for dialects that have a place in front of it alone: the user says it. */
export const reminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;
