/** A finished call as it is exported. Amounts and counts as the database says them; null: unknown. */
export interface UsageRow {
  /** When the call arrived: the time inside its id. ISO UTC with milliseconds. */
  readonly time: string;
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly group: string;
  readonly protocol: string;
  readonly upstreamProtocol: string;
  readonly channel: string;
  readonly stream: boolean;
  readonly status: string;
  readonly errorReason: string;
  readonly promptTokens: string | null;
  readonly cachedTokens: string | null;
  readonly cacheWriteTokens: string | null;
  readonly completionTokens: string | null;
  readonly reasoningTokens: string | null;
  /** Nano-dollars, what was charged. */
  readonly cost: string;
  readonly billingBasis: string;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
  readonly attempts: number;
  readonly ip: string;
  /** JSON. */
  readonly upstreamReport: string | null;
  /** `created_at` to the microsecond: where the next page begins. */
  readonly position: string;
}
