import { paragraphsOf } from './terms.controller.js';

describe('paragraphs of terms', () => {
  it('are split at empty lines and keep other line breaks', () => {
    expect(paragraphsOf('One\ntwo\n\n \nThree\n')).toEqual([
      [[{ text: 'One' }], [{ text: 'two' }]],
      [[{ text: 'Three' }]],
    ]);
  });

  it.each([
    ['See https://example.com/a?b=c#d.', 'https://example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
    ['(https://example.com/)', 'https://example.com/', 'https://example.com/'],
    ['Write to help@example.com, please', 'help@example.com', 'mailto:help@example.com'],
  ])('link the address in “%s”', (line, text, href) => {
    const [[pieces = []] = []] = paragraphsOf(line);
    expect(pieces.filter((piece) => piece.href !== undefined)).toEqual([{ text, href }]);
    expect(pieces.map((piece) => piece.text).join('')).toBe(line);
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'somebody @ example', '<b>bold</b>'])(
    'link nothing in “%s”',
    (line) => {
      expect(paragraphsOf(line)).toEqual([[[{ text: line }]]]);
    },
  );
});
