import type { ViewEngine } from '../../web/index.js';
import type { DocsView, TopicView } from './docs.view.js';

/** Part of a page below one heading. */
interface DocsSection {
  readonly topic: string;
  readonly title: string;
  readonly href: string;
  readonly text: string;
}

interface SearchResult {
  readonly topic: string;
  readonly title: string;
  readonly href: string;
  /** Text around the first match. */
  readonly excerpt: string;
}

/** Sections that only lead to others. */
const LISTS = ['topics', 'reference'];
const MAX_RESULTS = 20;
const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 220;

/** Full-text search of the docs, over the text of the rendered pages. */
export class DocsSearch {
  /** Of the first search: later changes of addresses and models do not matter for finding a section. */
  private sections: readonly DocsSection[] | undefined;

  constructor(private readonly views: ViewEngine) {}

  /** Sections that contain all words; those with one in their title first. */
  find(view: DocsView, query: string): readonly SearchResult[] {
    this.sections ??= view.topics.flatMap((topic) => this.sectionsOf(view, topic));
    const words = query.toLowerCase().split(/\s+/);
    const inTitle = ({ title }: DocsSection): number =>
      words.some((word) => title.toLowerCase().includes(word)) ? 0 : 1;
    return this.sections
      .filter(({ title, text }) => words.every((word) => `${title} ${text}`.toLowerCase().includes(word)))
      .toSorted((one, other) => inTitle(one) - inTitle(other))
      .slice(0, MAX_RESULTS)
      .map(({ text, ...section }) => ({ ...section, excerpt: excerptOf(text, words) }));
  }

  private sectionsOf(view: DocsView, topic: TopicView): readonly DocsSection[] {
    // Without its layout, a page is its text alone.
    const html = this.views.renderBare(topic.view, { ...view, topic, isText: true });
    return html.split(/(?=<h2\b)/).flatMap((part) => {
      const heading = /^<h2[^>]* id="([^"]+)"[^>]*>([^]*?)<\/h2>([^]*)/.exec(part);
      if (heading === null) return [];
      const [, id = '', title = '', text = ''] = heading;
      if (LISTS.includes(id)) return [];
      return [{ topic: topic.title, title: textOf(title), href: `${topic.href}#${id}`, text: textOf(text) }];
    });
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
  '&#x3D;': '=',
  '&#x60;': '`',
  '&amp;': '&',
};

const textOf = (html: string): string =>
  html
    .replaceAll(/<svg\b[^]*?<\/svg>|<[^>]*>/g, ' ')
    .replaceAll(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,:;)])/g, '')
    .trim();

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0), text.length);
  const from = at < EXCERPT_BEFORE || at === text.length ? 0 : text.lastIndexOf(' ', at - EXCERPT_BEFORE) + 1;
  const to = from + EXCERPT_LENGTH >= text.length ? text.length : text.lastIndexOf(' ', from + EXCERPT_LENGTH);
  return `${from > 0 ? '… ' : ''}${text.slice(from, to)}${to < text.length ? ' …' : ''}`;
}
