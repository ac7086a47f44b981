import type { TokenUsage } from '../../protocols/contract/index.js';

const MAX_RESPONSES = 10_000;

/**
 * How many tokens the conversations have that end with an answer of this process, by the upstream's id for it: what the
 * prompt of a call is larger by that continues one. Kept by account, so that nobody's id says anything to others, and
 * only of the latest answers: whoever is not found here is held for as if anything might follow.
 */
export class ConversationTokenCache {
  private readonly tokens = new Map<string, number>();

  note(accountId: string, { answerId, input, output }: TokenUsage): void {
    if (answerId === undefined) return;
    const name = nameOf(accountId, answerId);
    // Put anew, it stands behind all others.
    this.tokens.delete(name);
    this.tokens.set(name, input + output);
    if (this.tokens.size > MAX_RESPONSES)
      for (const oldest of this.tokens.keys()) return void this.tokens.delete(oldest);
  }

  tokensOf(accountId: string, answerId: string | undefined): number | undefined {
    return answerId === undefined ? undefined : this.tokens.get(nameOf(accountId, answerId));
  }
}

const nameOf = (accountId: string, answerId: string): string => `${accountId} ${answerId}`;
