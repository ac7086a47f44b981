import { encode } from 'uqr';

/** A QR code as an image: a path of squares of one unit, in a square of `size` units that begins with its white border. */
export interface QrCode {
  readonly size: number;
  readonly path: string;
}

/** White around it, in modules, as readers want it (ISO/IEC 18004). */
const BORDER = 4;

export function qrCode(text: string): QrCode {
  const { size, data } = encode(text, { ecc: 'M', border: BORDER });
  return { size, path: data.map(rowPath).join('') };
}

/** The dark modules of a row, each run of them one rectangle. */
function rowPath(row: readonly boolean[], y: number): string {
  const line = row.map((dark) => (dark ? '1' : '0')).join('');
  return [...line.matchAll(/1+/g)]
    .map(({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
    .join('');
}
