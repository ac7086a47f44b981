/** Elements whose whitespace is text. */
const VERBATIM = /(<(?:pre|textarea)\b[^]*?<\/(?:pre|textarea)>)/;
/** Whitespace around the tag of any element that does not flow with text. */
const AROUND_BLOCKS =
  / ?(<\/?(?!(?:a|abbr|b|bdi|code|del|em|i|input|ins|kbd|meter|select|small|span|strong|svg|time)\b)[a-z][^>]*>) ?/g;

/** HTML without the whitespace that only lays out its templates, so that specs can match adjacent elements. */
export function compactHtml(html: string): string {
  return html
    .split(VERBATIM)
    .map((part) => (VERBATIM.test(part) ? part : compact(part)))
    .join('');
}

const compact = (html: string): string =>
  html
    .replaceAll(/<[^>]*>|\s+/g, (match) => (match.startsWith('<') ? compactTag(match) : ' '))
    .replaceAll('> <', '><')
    .replaceAll(AROUND_BLOCKS, '$1')
    .replaceAll(/(<(?:a|button)\b[^>]*>) | (?=<\/(?:a|button)>)/g, '$1');

/** Values keep their whitespace: they are what a browser submits. */
const compactTag = (tag: string): string =>
  tag.replaceAll(/("[^"]*")|\s+/g, (_, value?: string) => value ?? ' ').replace(/ (?=\/?>$)/, '');
