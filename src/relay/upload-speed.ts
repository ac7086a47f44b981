/** A slower upload makes room first when memory is short. */
const MIN_BYTES_PER_SECOND = 100_000;
/** An upload is judged by at least this much time, and by little more: a fast beginning does not excuse a stall. */
const WINDOW_MS = 1000;

/** Whether a body that is arriving has become slow. */
export class UploadSpeed {
  private before: { readonly bytes: number; readonly atMs: number };
  private current: { readonly bytes: number; readonly atMs: number };

  constructor(startedMs: number) {
    this.before = this.current = { bytes: 0, atMs: startedMs };
  }

  /** @param bytes that have arrived by now */
  note(bytes: number, nowMs: number): void {
    if (nowMs - this.current.atMs < WINDOW_MS) return;
    this.before = this.current;
    this.current = { bytes, atMs: nowMs };
  }

  isSlow(bytes: number, nowMs: number): boolean {
    const since = nowMs - this.current.atMs >= WINDOW_MS ? this.current : this.before;
    const ms = nowMs - since.atMs;
    return ms >= WINDOW_MS && bytes - since.bytes < (MIN_BYTES_PER_SECOND * ms) / 1000;
  }
}
