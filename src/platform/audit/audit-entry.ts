/** What kind of thing was changed, in the word that pages and addresses use. */
export const AUDIT_KINDS = [
  'account',
  'key',
  'channel',
  'model',
  'group',
  'limits',
  'code',
  'payment',
  'invitation',
  'setting',
  'calls',
] as const;
export type AuditObjectKind = (typeof AUDIT_KINDS)[number];

/** A change as it is recorded. Secrets are never part of it. */
export interface AuditEntry {
  /** What was done, as it reads behind who did it: `changed`, `credited`, `switched off`. */
  readonly action: string;
  readonly object: {
    readonly kind: AuditObjectKind;
    readonly id: string;
    /** As people know it, at this moment. */
    readonly name: string;
    /** The account that it belongs to, whose changes it is found among; absent: it is nobody's, or an account itself. */
    readonly owner?: string;
  };
  /** `tier 1 → 2`, a line for each field; none where the action says it all. */
  readonly lines?: readonly string[];
  /** What whoever did it gave as the reason. */
  readonly reason?: string;
}

/** The same with who did it and when, as it is read again. */
export interface RecordedChange extends Required<AuditEntry> {
  readonly id: string;
  readonly at: Date;
  readonly actor: { readonly kind: 'account' | 'command-line' | 'system'; readonly id: string; readonly name: string };
  /** From where it was done; empty where there is no address. */
  readonly ip: string;
}
