/** Where lines of the audit trail are written. */
export interface AuditOutput {
  /** Rejects if nothing could be appended. Need not be called. */
  open?(): Promise<void>;
  /** Appends whole lines. Resolves when they are safe; rejects if some may not be. */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}
