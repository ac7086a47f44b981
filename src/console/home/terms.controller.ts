import { Controller, Get } from '@nestjs/common';
import { Settings } from '../../platform/settings/index.js';
import { AppError } from '../../platform/shared/index.js';
import { Public } from '../access/index.js';
import { Page } from '../web/index.js';

@Controller('terms')
@Public()
export class TermsController {
  constructor(private readonly settings: Settings) {}

  @Get()
  show(): Page {
    const { terms } = this.settings.current().site;
    if (terms === undefined) throw new AppError('not_found', 'This service has no terms of use.');
    return new Page('home/terms', { title: 'Terms', width: 'narrow', data: { paragraphs: paragraphsOf(terms) } });
  }
}

interface LinkedText {
  readonly text: string;
  /** Undefined for text. */
  readonly href?: string;
}

type Paragraph = readonly (readonly LinkedText[])[];

/** URLs and email addresses, without punctuation that follows them. */
const ADDRESS =
  /https?:\/\/[^\s<>"]*[^\s<>".,;:!?'()[\]]|[^\s<>"(),;:@]{1,64}@[a-z\d](?:[a-z\d.-]{0,250}[a-z\d])?\.[a-z]{2,24}/gi;

/** Splits text into paragraphs at empty lines, and links its addresses. */
export const paragraphsOf = (text: string): readonly Paragraph[] =>
  text
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .trim()
        .split('\n')
        .map((line) => piecesOf(line.trim())),
    )
    .filter((lines) => lines.some((pieces) => pieces.length > 0));

function piecesOf(line: string): readonly LinkedText[] {
  const pieces: LinkedText[] = [];
  let end = 0;
  for (const { 0: address, index } of line.matchAll(ADDRESS)) {
    if (index > end) pieces.push({ text: line.slice(end, index) });
    pieces.push({ text: address, href: /^https?:/i.test(address) ? address : `mailto:${address}` });
    end = index + address.length;
  }
  if (end < line.length) pieces.push({ text: line.slice(end) });
  return pieces;
}
