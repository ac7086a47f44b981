/** Ways in which servers write the same stream of events down, and networks cut it: each gives the chunks. */

type Framing = (stream: Buffer) => readonly Uint8Array[];

export const FRAMINGS: Readonly<Record<string, Framing>> = {
  'in one chunk (case 15)': (stream) => [stream],
  'one byte at a time (case 9)': (stream) => cut(stream, 1),
  'three bytes at a time, so that characters come apart (case 10)': (stream) => cut(stream, 3),
  'with CRLF (case 8)': edited((text) => text.replaceAll('\n', '\r\n')),
  'with CRLF, one byte at a time (case 8)': (stream) =>
    cut(
      edit(stream, (text) => text.replaceAll('\n', '\r\n')),
      1,
    ),
  'with lone CR (case 8)': edited((text) => text.replaceAll('\n', '\r')),
  'with comments, id: and retry: lines (case 11)': edited(
    (text) => `: hello\n\n${text.replaceAll('\n\n', '\nid: 7\nretry: 10\n\n:\n\n: PROCESSING\n\n')}`,
  ),
  'with data: of several lines (case 12)': edited((text) => text.replaceAll(/^(data: \{)/gm, '$1\ndata: ')),
  'without the space behind data: (case 13)': edited((text) => text.replaceAll(/^data: /gm, 'data:')),
  'without the last empty line (case 16)': (stream) => [stream.subarray(0, -1)],
  'behind a byte order mark (case 17)': (stream) => [Buffer.from('\uFEFF'), stream],
  'with its end twice, and more behind it (case 18)': (stream) => [stream, edit(stream, lastEvent), stream],
};

const edit = (stream: Buffer, change: (text: string) => string): Buffer => Buffer.from(change(stream.toString()));

function edited(change: (text: string) => string): Framing {
  return (stream) => [edit(stream, change)];
}

const lastEvent = (text: string): string => text.slice(text.lastIndexOf('\n\n', text.length - 3) + 2);

const cut = (stream: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(stream.length / size) }, (_, index) =>
    stream.subarray(index * size, (index + 1) * size),
  );
